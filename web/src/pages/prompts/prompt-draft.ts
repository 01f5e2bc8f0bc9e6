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
}

export const EMPTY_DRAFT: Draft = {
  name: '',
  description: '',
  body: '',
  tags: [],
  extraVariables: [],
  defaultModel: '',
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
  }
}

/** The variables of the text, followed by the other declared ones. */
export function variablesOf({ body, extraVariables }: Pick<Draft, 'body' | 'extraVariables'>) {
  const used = findPlaceholders(body)
  return [...used, ...extraVariables.filter((name) => !used.includes(name))]
}

/** Every field, for a new prompt. */
export function inputOf(draft: Draft) {
  return {
    name: draft.name.trim(),
    description: draft.description.trim() === '' ? null : draft.description.trim(),
    body: draft.body,
    variables: variablesOf(draft),
    tags: [...draft.tags],
    default_model: draft.defaultModel === '' ? null : draft.defaultModel,
  }
}

/**
 * Only the fields that differ from the prompt, so that concurrent changes of others survive; undefined: no
 * change.
 */
export function changesOf(draft: Draft, prompt: Prompt): PromptChange | undefined {
  const input = inputOf(draft)
  const changes: PromptChange = {}
  if (input.name !== prompt.name) changes.name = input.name
  if (input.description !== prompt.description) changes.description = input.description
  if (input.default_model !== prompt.default_model) changes.default_model = input.default_model
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
  readonly field: 'name' | 'body'
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
  return undefined
}

function isSameList(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((each, place) => each === right[place])
}
