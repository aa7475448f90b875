/** A fault that the user can mend; shown without a stack. The message names file or input, place, value and what is allowed. */
export class UserError extends Error {
  override readonly name = 'UserError'
}

/** What an error says, without its stack; anything else that was thrown, as text. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Whether an error carries one of these codes of the system, e.g. `ENOENT`. */
export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return (
    error instanceof Error && 'code' in error && typeof error.code === 'string' && codes.includes(error.code)
  )
}
