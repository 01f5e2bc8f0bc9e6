/** Converts the fields of a run to the API's body. */
import type { Prompt, RunInput } from './prompt-queries.ts'
import { t } from '../../language/t.ts'

export interface RunFields {
  /** The value of each variable. */
  readonly values: Readonly<Record<string, string>>
  /** `''`: the prompt's own model. */
  readonly model: string
  readonly maxTokens: string
  readonly temperature: string
  /** `''`: no key chosen. */
  readonly keyId: string
}

export const NEW_RUN: RunFields = {
  values: {},
  model: '',
  maxTokens: '1024',
  temperature: '0,7',
  keyId: '',
}

/** Maps the name of a field, or `values.` plus a variable's name, to the text of its fault. */
export type RunFaults = Readonly<Record<string, string>>

export function readRun(
  fields: RunFields,
  prompt: Prompt,
): { input: RunInput } | { faults: RunFaults } {
  const faults: Record<string, string> = {}
  for (const name of prompt.variables)
    if (!fields.values[name]) faults[`values.${name}`] = t('Falta o valor.')
  if (fields.model === '' && prompt.default_model === null) faults.model = t('Escolha um modelo.')
  if (fields.keyId === '') faults.keyId = t('Escolha com qual chave pagar.')
  const maxTokens = Number(fields.maxTokens.replaceAll(/[.\s]/g, ''))
  if (!Number.isSafeInteger(maxTokens) || maxTokens < 1)
    faults.maxTokens = t('Digite um número inteiro a partir de 1.')
  const temperature = Number(fields.temperature.trim().replace(',', '.') || Number.NaN)
  if (!(temperature >= 0 && temperature <= 2)) faults.temperature = t('Digite um número de 0 a 2.')
  if (Object.keys(faults).length > 0) return { faults }
  return {
    input: {
      api_key_id: fields.keyId,
      // The API would refuse values of variables that the prompt no longer has.
      values: Object.fromEntries(
        prompt.variables.map((name) => [name, fields.values[name] as string]),
      ),
      ...(fields.model === '' ? {} : { model: fields.model }),
      max_tokens: maxTokens,
      temperature,
    },
  }
}
