/** Validators of request fields. Each returns the fault in Portuguese; undefined if the field is valid. */
import type { JsonObject } from '../providers/contract.ts'

export function findModelIdFault(body: JsonObject): string | undefined {
  return typeof body.model === 'string' && body.model !== ''
    ? undefined
    : 'O campo "model" é obrigatório e deve ser um texto.'
}

export function findNumberFault(
  body: JsonObject,
  field: string,
  min: number,
  max: number,
  isWhole: boolean,
): string | undefined {
  const value = body[field]
  if (isAbsent(value)) return undefined
  if (
    typeof value === 'number' &&
    value >= min &&
    value <= max &&
    (!isWhole || Number.isInteger(value))
  )
    return undefined
  const bounds = max === Number.MAX_SAFE_INTEGER ? `a partir de ${min}` : `de ${min} a ${max}`
  return `O campo "${field}" deve ser um número${isWhole ? ' inteiro' : ''} ${bounds}.`
}

export function findChoiceFault(
  body: JsonObject,
  field: string,
  choices: readonly string[],
): string | undefined {
  const value = body[field]
  if (isAbsent(value) || choices.includes(value as string)) return undefined
  return `O campo "${field}" aceita ${choices.join(', ')}.`
}

/** Validates `models`; see `takeFallbacks`. */
export function findFallbacksFault({ models }: JsonObject): string | undefined {
  if (isAbsent(models)) return undefined
  const isValid =
    Array.isArray(models) &&
    models.length <= FALLBACKS_MAX &&
    models.every((id) => typeof id === 'string' && id !== '')
  return isValid
    ? undefined
    : `O campo "models" deve ser uma lista de até ${FALLBACKS_MAX} identificadores de modelos.`
}

export const FALLBACKS_MAX = 5

/**
 * Removes `models` from a valid request and returns it: the models to try if `model` gives no answer. Other model
 * routers use the same field name. It never reaches an upstream.
 */
export function takeFallbacks(body: JsonObject): readonly string[] {
  const { models, model } = body
  if (models === undefined) return NO_FALLBACKS
  delete body.models
  return fallbacksBeside(model as string, (models as string[] | null) ?? [])
}

/** Returns the distinct fallback models, without `modelId` itself. */
export function fallbacksBeside(modelId: string, ids: readonly string[]): string[] {
  return [...new Set(ids)].filter((id) => id !== modelId)
}

/** Deletes unlisted fields from a valid request, because an unknown field may cause costs upstream. */
export function keepFields(fields: ReadonlySet<string>, body: JsonObject): void {
  for (const field in body) if (!fields.has(field)) delete body[field]
}

const NO_FALLBACKS: readonly string[] = []

export function isAbsent(value: unknown): value is null | undefined {
  return value === undefined || value === null
}
