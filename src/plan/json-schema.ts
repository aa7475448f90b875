import * as z from 'zod'
import { scenarioSchema, targetSchema } from './schema.ts'

/** A JSON Schema (draft-07, which the YAML language server reads), as far as this project writes it. */
export interface JsonSchema {
  readonly $schema?: string
  readonly $ref?: string
  readonly title?: string
  readonly description?: string
  readonly type?: string | readonly string[]
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly default?: unknown
  readonly examples?: readonly unknown[]
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly items?: JsonSchema
  readonly anyOf?: readonly JsonSchema[]
  readonly minimum?: number
  readonly maximum?: number
  readonly pattern?: string
  readonly additionalProperties?: boolean | JsonSchema
}

/** The JSON Schema of `target.yml`. */
export function buildTargetSchema(): JsonSchema {
  return buildJsonSchema(targetSchema)
}

/** The JSON Schema of `scenarios/<name>.yml`. */
export function buildScenarioSchema(): JsonSchema {
  return buildJsonSchema(scenarioSchema)
}

function buildJsonSchema(schema: z.ZodType): JsonSchema {
  return z.toJSONSchema(schema, {
    target: 'draft-7',
    io: 'input',
    override: ({ zodSchema, jsonSchema }) => {
      // zod bounds every integer; to a reader that is noise.
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
      // zod drops these from values that are transformed; here both are written as the input is.
      const meta = z.globalRegistry.get(zodSchema)
      if (meta?.default !== undefined) jsonSchema.default = meta.default
      if (meta?.examples !== undefined) jsonSchema.examples = meta.examples as unknown[]
    },
  }) as JsonSchema
}
