/** A fault that the user can mend; shown without a stack. The message names file or input, place, value and what is allowed. */
export class UserError extends Error {
  override readonly name = 'UserError'
}
