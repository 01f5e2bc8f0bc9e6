/** A prompt while it is being edited, and the changes to send to the API. */
import { findPlaceholders, VARIABLES_MAX } from '../../lib/placeholders.ts'
import type { Prompt, PromptChange } from './prompt-queries.ts'
import { perLanguage } from '../../language/per-language.ts'
import { t } from '../../language/t.ts'

const NAME_LENGTH_MIN = 3

export interface Draft {
  readonly name: string
  readonly description: string
  readonly body: string
  readonly tags: readonly string[]
  /** Declared variables that the text does not use; the others are read from the text. */
  readonly extraVariables: readonly string[]
  /** `''`: none. */
  readonly defaultModel: string
  /** `''`: no limit of the prompt's own. */
  readonly maxTokens: string
  /** `''`: that of the call. */
  readonly temperature: string
}

export const EMPTY_DRAFT: Draft = {
  name: '',
  description: '',
  body: '',
  tags: [],
  extraVariables: [],
  defaultModel: '',
  maxTokens: '',
  temperature: '',
}

export const EXAMPLE_DRAFT = perLanguage((): Draft => ({
  ...EMPTY_DRAFT,
  name: t('Resposta a cliente'),
  description: t('Responde a uma mensagem de cliente no tom da loja.'),
  body: t(
    'Você atende os clientes da {{loja}}.\nEscreva em português do Brasil, em tom {{tom}}, em até 5 frases.\nNão prometa prazos nem descontos.\n\nMensagem do cliente:\n{{mensagem}}',
  ),
  tags: ['atendimento'],
}))

export function draftOf(prompt: Prompt): Draft {
  const used = new Set(findPlaceholders(prompt.body))
  return {
    name: prompt.name,
    description: prompt.description ?? '',
    body: prompt.body,
    tags: prompt.tags,
    extraVariables: prompt.variables.filter((name) => !used.has(name)),
    defaultModel: prompt.default_model ?? '',
    maxTokens: String(prompt.parameters.max_tokens ?? ''),
    temperature: String(prompt.parameters.temperature ?? '').replace('.', ','),
  }
}

/** The variables of the text, followed by the other declared ones. */
export function variablesOf({ body, extraVariables }: Pick<Draft, 'body' | 'extraVariables'>) {
  const used = findPlaceholders(body)
  return [...used, ...extraVariables.filter((name) => !used.includes(name))]
}

/** Every field, for a new prompt; `parameters` are those of the prompt that is changed. */
export function inputOf(draft: Draft, parameters: Prompt['parameters'] = {}) {
  const { max_tokens: _limit, temperature: _temperature, ...others } = parameters
  const [maxTokens, temperature] = [maxTokensOf(draft), temperatureOf(draft)]
  return {
    name: draft.name.trim(),
    description: draft.description.trim() === '' ? null : draft.description.trim(),
    body: draft.body,
    variables: variablesOf(draft),
    tags: [...draft.tags],
    default_model: draft.defaultModel === '' ? null : draft.defaultModel,
    // The form does not show all of them.
    parameters: {
      ...others,
      ...(maxTokens === undefined ? {} : { max_tokens: maxTokens }),
      ...(temperature === undefined ? {} : { temperature }),
    },
  }
}

function maxTokensOf({ maxTokens }: Draft): number | undefined {
  return maxTokens.trim() === '' ? undefined : Number(maxTokens.replaceAll(/[.\s]/g, ''))
}

function temperatureOf({ temperature }: Draft): number | undefined {
  return temperature.trim() === '' ? undefined : Number(temperature.trim().replace(',', '.'))
}

/**
 * Only the fields that differ from the prompt, so that concurrent changes of others survive; undefined: no
 * change.
 */
export function changesOf(draft: Draft, prompt: Prompt): PromptChange | undefined {
  const input = inputOf(draft, prompt.parameters)
  const changes: PromptChange = {}
  if (input.name !== prompt.name) changes.name = input.name
  if (input.description !== prompt.description) changes.description = input.description
  if (input.default_model !== prompt.default_model) changes.default_model = input.default_model
  const { max_tokens: maxTokens, temperature } = prompt.parameters
  if (input.parameters.max_tokens !== maxTokens || input.parameters.temperature !== temperature)
    changes.parameters = input.parameters
  if (!isSameList(input.tags, prompt.tags)) changes.tags = input.tags
  if (input.body !== prompt.body) changes.body = input.body
  // The order of variables has no meaning.
  if (
    changes.body !== undefined ||
    !isSameList(input.variables.toSorted(), prompt.variables.toSorted())
  )
    changes.variables = input.variables
  return Object.keys(changes).length > 0 ? changes : undefined
}

export interface DraftFault {
  readonly field: 'name' | 'body' | 'maxTokens' | 'temperature'
  readonly text: string
}

export function faultOf(draft: Draft): DraftFault | undefined {
  // The API counts code points.
  if (Array.from(draft.name.trim()).length < NAME_LENGTH_MIN)
    return { field: 'name', text: t('Dê um nome de ao menos 3 letras.') }
  if (draft.body.trim() === '') return { field: 'body', text: t('Escreva o texto do prompt.') }
  if (variablesOf(draft).length > VARIABLES_MAX)
    return {
      field: 'body',
      text: t('Um prompt tem no máximo {variablesMax} variáveis.', { variablesMax: VARIABLES_MAX }),
    }
  const [maxTokens = 1, temperature = 0] = [maxTokensOf(draft), temperatureOf(draft)]
  if (!Number.isSafeInteger(maxTokens) || maxTokens < 1)
    return { field: 'maxTokens', text: t('Digite um número inteiro a partir de 1.') }
  if (!(temperature >= 0 && temperature <= 2))
    return { field: 'temperature', text: t('Digite um número de 0 a 2.') }
  return undefined
}

function isSameList(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((each, place) => each === right[place])
}
