/** What is at fault with a field of a request, told in Portuguese; undefined where it is sound. */
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

/** The other models that may answer: see `takeFallbacks`. */
export function findFallbacksFault({ models }: JsonObject): string | undefined {
  if (isAbsent(models)) return undefined
  const isSound =
    Array.isArray(models) &&
    models.length <= FALLBACKS_MAX &&
    models.every((id) => typeof id === 'string' && id !== '')
  return isSound
    ? undefined
    : `O campo "models" deve ser uma lista de até ${FALLBACKS_MAX} identificadores de modelos.`
}

export const FALLBACKS_MAX = 5

/**
 * Takes `models` out of a sound request: the models to turn to where `model` gives no answer. The field
 * is the one that routers of models know; it is for us and not for the upstream.
 */
export function takeFallbacks(body: JsonObject): readonly string[] {
  const { models, model } = body
  if (models === undefined) return NO_FALLBACKS
  delete body.models
  return fallbacksBeside(model as string, (models as string[] | null) ?? [])
}

/** Each once, and not the model that they stand in for. */
export function fallbacksBeside(modelId: string, ids: readonly string[]): string[] {
  return [...new Set(ids)].filter((id) => id !== modelId)
}

/** Takes out of a sound request what is on no list: a field that nobody knows may have a price. */
export function keepFields(fields: ReadonlySet<string>, body: JsonObject): void {
  for (const field in body) if (!fields.has(field)) delete body[field]
}

const NO_FALLBACKS: readonly string[] = []

export function isAbsent(value: unknown): value is null | undefined {
  return value === undefined || value === null
}
