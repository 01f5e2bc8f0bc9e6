import createValidatorFactory, { type BuildCompilerFromPool } from '@fastify/ajv-compiler'
import type { FastifyServerOptions } from 'fastify'

type Compile = ReturnType<BuildCompilerFromPool>
type Validate = ReturnType<Compile>

/**
 * The options of the schema compiler. Values are not coerced: `restRoute` turns the integers of a query into numbers
 * itself.
 */
export const ajvOptions = {
  customOptions: { removeAdditional: false, coerceTypes: false, useDefaults: true },
} satisfies FastifyServerOptions['ajv']

/**
 * Compiles the schema of a request when the first request needs it. To compile all schemas takes a third of the
 * processor time of a start, and most processes use few of them. A schema that does not compile would only fail
 * its own requests, so a test compiles all of them.
 */
export const schemaController: NonNullable<FastifyServerOptions['schemaController']> = {
  compilersFactory: {
    buildValidator(...args: Parameters<BuildCompilerFromPool>) {
      const compile = createValidatorFactory()(...args)
      return (schema: Parameters<Compile>[0]) => compileAtFirstUse(() => compile(schema))
    },
    // Handlers send text that `JSON.stringify` wrote: a serializer by schema would round the exact numbers in it.
    buildSerializer: () => () => JSON.stringify,
  },
}

function compileAtFirstUse(compile: () => Validate): Validate {
  let compiled: Validate | undefined
  const validate = (data: unknown): unknown => {
    compiled ??= compile()
    const isValid = compiled(data)
    validate.errors = compiled.errors
    return isValid
  }
  validate.errors = undefined as Validate['errors']
  return validate as Validate
}
