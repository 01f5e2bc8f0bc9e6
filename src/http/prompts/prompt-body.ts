/** The schemas of saved prompts. */
import Type from 'typebox'
import { VARIABLES_MAX } from '../../customers/prompts/placeholders.ts'
import { NAME_LENGTH_MAX } from '../../customers/prompts/prompts.ts'
import { OUTPUT_TOKENS_ABSURD } from '../../gateway/calls/chat/chat-request.ts'
import { answer, brl, count, dateTime, nullable, storedText, uuid } from '../rest/values.ts'

const DESCRIPTION_LENGTH_MAX = 2_000
const TAGS_MAX = 20
export const TAG_LENGTH_MAX = 24
const MODEL_ID_LENGTH_MAX = 200

/** Much longer than any list of providers. */
export const PARAMETERS_BYTES_MAX = 4_096

export const promptParameters = Type.Object(
  {
    max_tokens: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: OUTPUT_TOKENS_ABSURD,
        description: 'O máximo da resposta, também para quem pede mais.',
      }),
    ),
    temperature: Type.Optional(Type.Number({ minimum: 0, maximum: 2 })),
    top_p: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
    provider: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description: 'Quem pode responder, como em POST /chat/completions.',
      }),
    ),
  },
  {
    additionalProperties: false,
    description:
      'O que vale nas chamadas com o modelo "@preset/<slug>". Os campos da própria chamada valem mais.',
  },
)

const fields = {
  name: storedText(3, NAME_LENGTH_MAX),
  body: storedText(1, 32_000, 'O texto; variáveis se escrevem {{nome}}.'),
  description: nullable(storedText(0, DESCRIPTION_LENGTH_MAX)),
  variables: Type.Array(Type.String({ pattern: '^[a-zA-Z0-9_]{1,40}$' }), {
    maxItems: VARIABLES_MAX,
    description: 'Todas as do texto, e outras. Sem este campo: as do texto.',
  }),
  tags: Type.Array(storedText(1, TAG_LENGTH_MAX), { maxItems: TAGS_MAX }),
  default_model: nullable(
    Type.String({
      maxLength: MODEL_ID_LENGTH_MAX,
      description:
        'Um modelo de chat do catálogo: o de chamadas com o modelo "@preset/<slug>", e de execuções que não escolhem outro.',
    }),
  ),
  parameters: promptParameters,
}
const { name, body, ...others } = fields

export const promptInput = Type.Object(
  { name, body, ...Type.Partial(Type.Object(others)).properties },
  { additionalProperties: false },
)

export const promptChange = Type.Object(
  {
    ...Type.Partial(Type.Object(fields)).properties,
    change_note: Type.Optional(storedText(0, 200, 'Guardada com a versão nova, se o texto mudou.')),
  },
  { additionalProperties: false },
)

export const prompt = answer({
  id: uuid,
  slug: Type.String(),
  name: Type.String(),
  description: nullable(Type.String()),
  body: Type.String(),
  variables: Type.Array(Type.String()),
  tags: Type.Array(Type.String()),
  default_model: nullable(Type.String()),
  parameters: promptParameters,
  version: Type.Integer({ minimum: 1, description: 'Cresce quando o texto muda.' }),
  created_at: dateTime,
  updated_at: dateTime,
})

export const promptVersion = answer({
  version: Type.Integer({ minimum: 1 }),
  body: Type.String(),
  change_note: nullable(Type.String()),
  created_at: dateTime,
})

export const promptRun = answer({
  session_id: Type.String(),
  request_count: count,
  models: Type.Array(Type.String()),
  total_prompt_tokens: count,
  total_completion_tokens: count,
  total_tokens: count,
  total_billed_brl: brl,
  first_request_at: dateTime,
  last_request_at: dateTime,
})

/** The `:id` of a prompt. Text that is not a UUID is no prompt's id: 404. */
export const promptParams = { id: Type.String({ description: 'UUID' }) }

export const promptRunInput = Type.Object(
  {
    api_key: Type.Optional(
      Type.String({
        pattern: '^sk-',
        maxLength: 200,
        description:
          'Uma chave ativa da mesma conta; paga a execução. Obrigatória sem `api_key_id`.',
      }),
    ),
    api_key_id: Type.Optional(
      Type.String({
        maxLength: 200,
        description: 'Numa sessão do painel, em lugar de `api_key`: o id da chave.',
      }),
    ),
    values: Type.Optional(
      Type.Record(Type.String(), Type.String(), {
        maxProperties: VARIABLES_MAX,
        default: {},
        description: 'O valor de cada variável do prompt.',
      }),
    ),
    model: Type.Optional(nullable(Type.String({ maxLength: MODEL_ID_LENGTH_MAX }))),
    max_tokens: Type.Optional(
      Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, default: 1024 }),
    ),
    temperature: Type.Optional(Type.Number({ minimum: 0, maximum: 2, default: 0.7 })),
  },
  { additionalProperties: false },
)
