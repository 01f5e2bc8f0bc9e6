/**
 * The schemas of the model calls, for the OpenAPI description. The gateway itself validates the requests, and passes on
 * further fields that upstreams know.
 */
import Type, { type TSchema } from 'typebox'
import { INPUTS_MAX } from '../../gateway/calls/embeddings/embedding-request.ts'
import { FALLBACKS_MAX } from '../../gateway/calls/field-faults.ts'
import {
  EDITED_IMAGES_MAX,
  IMAGES_MAX,
  PARTIAL_IMAGES_MAX,
} from '../../gateway/calls/images/image-request.ts'
import { MODERATION_INPUTS_MAX } from '../../gateway/calls/moderations/moderation-request.ts'
import { DOCUMENTS_MAX } from '../../gateway/calls/rerank/rerank-request.ts'
import { CHARACTERS_MAX, SPEECH_FORMATS } from '../../gateway/calls/speech/speech-request.ts'
import { PROMPT_CHARACTERS_MAX } from '../../gateway/calls/videos/video-request.ts'
import { TRANSCRIPT_FORMATS } from '../../gateway/calls/transcriptions/transcription-request.ts'
import { NAMES_MAX } from '../../gateway/calls/routing/route-choice.ts'
import { brl, count, nullable } from '../rest/values.ts'

const open = { additionalProperties: true }
const model = Type.String({ description: 'Um modelo do catálogo: GET /models.' })
const models = Type.Optional(
  Type.Array(Type.String(), {
    maxItems: FALLBACKS_MAX,
    description: 'Modelos de reserva, nesta ordem, se o primeiro não responder.',
  }),
)
const names = (description: string) =>
  Type.Optional(nullable(Type.Array(Type.String(), { maxItems: NAMES_MAX, description })))
const usdPerMillion = Type.Optional(
  nullable(Type.Union([Type.Number({ minimum: 0 }), Type.String()])),
)
/** The fields by which a caller chooses who answers. */
const routing = {
  models,
  provider: Type.Optional(
    nullable(
      Type.Object(
        {
          order: names(
            'Provedores a tentar primeiro, nesta ordem. Um provedor tem o nome que o serviço lhe dá, ou o de quem fez o modelo.',
          ),
          only: names('Só estes provedores.'),
          ignore: names('Nenhum destes provedores.'),
          sort: Type.Optional(
            nullable(
              Type.Enum(['price', 'latency', 'throughput'], {
                description:
                  'O que vem primeiro, sem order; throughput ordena pelo tempo até o primeiro byte. O mesmo que :floor (price) e :nitro (throughput) depois do nome do modelo.',
              }),
            ),
          ),
          max_price: Type.Optional(
            nullable(
              Type.Object(
                { prompt: usdPerMillion, completion: usdPerMillion },
                {
                  description:
                    'O máximo que você paga, em USD por milhão de tokens: o preço com o multiplicador, na faixa mais cara e em qualquer hora da chamada.',
                },
              ),
            ),
          ),
          allow_fallbacks: Type.Optional(
            nullable(
              Type.Boolean({
                default: true,
                description:
                  'Com false, só o primeiro provedor, ou só os de order, e nenhum modelo de reserva.',
              }),
            ),
          ),
          data_collection: Type.Optional(
            nullable(
              Type.Enum(['allow', 'deny'], {
                description:
                  'Com deny, só provedores que o serviço marca como sem coleta de dados.',
              }),
            ),
          ),
        },
        { ...open, description: 'Quem pode responder. Sem ninguém: 404 no_route_for_provider.' },
      ),
    ),
  ),
}
const tokens = { prompt_tokens: count, completion_tokens: count, total_tokens: count }

export interface ModelCallContract {
  readonly summary: string
  readonly body: TSchema
  readonly bodyType: 'application/json' | 'multipart/form-data'
  readonly answer: TSchema
  /** The content types of an answer that is no JSON. */
  readonly answerTypes?: readonly string[]
  /** Codes that only this call answers, by status. */
  readonly refusals?: Readonly<Record<number, string>>
}

export const chatCompletions: ModelCallContract = {
  summary: 'Responde a uma conversa, de uma vez ou em stream',
  bodyType: 'application/json',
  body: Type.Object(
    {
      model,
      ...routing,
      messages: Type.Array(
        Type.Object(
          {
            role: Type.Enum(['system', 'developer', 'user', 'assistant', 'tool']),
            content: Type.Optional(
              Type.Union([Type.String(), Type.Array(Type.Object({}, open)), Type.Null()]),
            ),
          },
          open,
        ),
        { minItems: 1 },
      ),
      max_tokens: Type.Optional(Type.Integer({ minimum: 1 })),
      temperature: Type.Optional(Type.Number({ minimum: 0, maximum: 2 })),
      stream: Type.Optional(Type.Boolean({ default: false })),
      tools: Type.Optional(Type.Array(Type.Object({}, open))),
      response_format: Type.Optional(Type.Object({ type: Type.String() }, open)),
    },
    open,
  ),
  answer: Type.Object({
    id: Type.String(),
    object: Type.Literal('chat.completion'),
    created: Type.Integer(),
    model: Type.String(),
    choices: Type.Array(
      Type.Object(
        {
          index: count,
          message: Type.Object(
            { role: Type.String(), content: Type.Optional(nullable(Type.String())) },
            open,
          ),
          finish_reason: Type.String(),
        },
        open,
      ),
    ),
    usage: Type.Object(tokens, open),
    cost_billed_brl: brl,
  }),
}

export const completions: ModelCallContract = {
  summary: 'Responde a um texto no formato antigo de completions, de uma vez ou em stream',
  bodyType: 'application/json',
  body: Type.Object(
    {
      model,
      ...routing,
      prompt: Type.Union([
        Type.String({ minLength: 1 }),
        Type.Array(Type.String({ minLength: 1 }), { minItems: 1, maxItems: 1 }),
      ]),
      max_tokens: Type.Optional(Type.Integer({ minimum: 1, default: 16 })),
      temperature: Type.Optional(Type.Number({ minimum: 0, maximum: 2 })),
      stream: Type.Optional(Type.Boolean({ default: false })),
    },
    open,
  ),
  answer: Type.Object({
    id: Type.String(),
    object: Type.Literal('text_completion'),
    created: Type.Integer(),
    model: Type.String(),
    choices: Type.Array(
      Type.Object({
        text: Type.String(),
        index: count,
        logprobs: Type.Null(),
        finish_reason: Type.String(),
      }),
    ),
    usage: Type.Object(tokens, open),
    cost_billed_brl: brl,
  }),
}

const messageContent = Type.Union([Type.String(), Type.Array(Type.Object({}, open))])
const messageFields = {
  model,
  messages: Type.Array(
    Type.Object(
      { role: Type.Enum(['user', 'assistant', 'system']), content: messageContent },
      open,
    ),
    { minItems: 1 },
  ),
  system: Type.Optional(messageContent),
  tools: Type.Optional(Type.Array(Type.Object({}, open))),
}

export const messages: ModelCallContract = {
  summary: 'Responde a uma conversa no formato Messages, de uma vez ou em stream',
  bodyType: 'application/json',
  body: Type.Object(
    {
      ...messageFields,
      ...routing,
      max_tokens: Type.Integer({ minimum: 1 }),
      temperature: Type.Optional(Type.Number({ minimum: 0, maximum: 2 })),
      stream: Type.Optional(Type.Boolean({ default: false })),
    },
    open,
  ),
  answer: Type.Object({
    id: Type.String(),
    type: Type.Literal('message'),
    role: Type.Literal('assistant'),
    model: Type.String(),
    content: Type.Array(Type.Object({ type: Type.String() }, open)),
    stop_reason: Type.String(),
    stop_sequence: nullable(Type.String()),
    stop_details: Type.Optional(Type.Object({}, open)),
    context_management: Type.Optional(Type.Object({}, open)),
    usage: Type.Object({
      input_tokens: count,
      cache_creation_input_tokens: count,
      cache_read_input_tokens: count,
      cache_creation: Type.Object({
        ephemeral_5m_input_tokens: count,
        ephemeral_1h_input_tokens: count,
      }),
      output_tokens: count,
    }),
    cost_billed_brl: brl,
  }),
}

export const messageTokens: ModelCallContract = {
  summary: 'Estima os tokens de uma requisição no formato Messages, sem custo',
  bodyType: 'application/json',
  body: Type.Object(messageFields, open),
  answer: Type.Object({ input_tokens: count }),
}

const responseInput = Type.Union([
  Type.String(),
  Type.Array(Type.Object({ type: Type.Optional(Type.String()) }, open), { minItems: 1 }),
])

const responseFields = {
  id: Type.String(),
  object: Type.Literal('response'),
  created_at: Type.Integer(),
  model: Type.String(),
  output: Type.Array(Type.Object({ id: Type.String(), type: Type.String() }, open)),
}

const responseUsage = Type.Object({
  input_tokens: count,
  input_tokens_details: Type.Object({ cached_tokens: count, cache_write_tokens: count }),
  output_tokens: count,
  output_tokens_details: Type.Object({ reasoning_tokens: count }),
  total_tokens: count,
})

/** A response as it was answered. One that broke off has neither usage nor cost. */
export const storedResponse = Type.Object(
  {
    ...responseFields,
    status: Type.Enum(['completed', 'incomplete', 'failed']),
    store: Type.Literal(true),
    usage: nullable(responseUsage),
    cost_billed_brl: Type.Optional(brl),
  },
  open,
)

const previousResponse = Type.Optional(
  nullable(Type.String({ description: 'Continua uma resposta guardada.' })),
)
/** What a request of the Responses format has beside the settings of its answer. */
const conversationFields = {
  model,
  input: Type.Optional(responseInput),
  instructions: Type.Optional(nullable(Type.String())),
  tools: Type.Optional(nullable(Type.Array(Type.Object({ type: Type.String() }, open)))),
  previous_response_id: previousResponse,
}

export const responseCompaction: ModelCallContract = {
  summary: 'Resume uma conversa no formato Responses num item, que se envia no lugar dela',
  refusals: { 400: 'previous_response_not_found' },
  bodyType: 'application/json',
  body: Type.Object({ ...conversationFields, ...routing }, open),
  answer: Type.Object({
    id: Type.String(),
    object: Type.Literal('response.compaction'),
    created_at: Type.Integer(),
    output: Type.Array(Type.Object({ id: Type.String(), type: Type.String() }, open)),
    usage: responseUsage,
    cost_billed_brl: brl,
  }),
}

export const responseTokens: ModelCallContract = {
  summary: 'Estima os tokens de uma requisição no formato Responses, sem custo',
  refusals: { 400: 'previous_response_not_found' },
  bodyType: 'application/json',
  body: Type.Object(conversationFields, open),
  answer: Type.Object({ object: Type.Literal('response.input_tokens'), input_tokens: count }),
}

export const responses: ModelCallContract = {
  summary: 'Responde a uma conversa no formato Responses, de uma vez ou em stream',
  refusals: { 400: 'previous_response_not_found' },
  bodyType: 'application/json',
  body: Type.Object(
    {
      model,
      ...routing,
      input: responseInput,
      instructions: Type.Optional(nullable(Type.String())),
      max_output_tokens: Type.Optional(nullable(Type.Integer({ minimum: 1 }))),
      temperature: Type.Optional(nullable(Type.Number({ minimum: 0, maximum: 2 }))),
      stream: Type.Optional(nullable(Type.Boolean({ default: false }))),
      tools: Type.Optional(nullable(Type.Array(Type.Object({ type: Type.String() }, open)))),
      previous_response_id: previousResponse,
      store: Type.Optional(
        nullable(
          Type.Boolean({
            default: true,
            description:
              'Guarda a resposta, se a conta guarda respostas (stored_responses_days em PUT /me/preferences); o campo da resposta diz se ela fica guardada.',
          }),
        ),
      ),
    },
    open,
  ),
  answer: Type.Object(
    {
      ...responseFields,
      status: Type.Enum(['completed', 'incomplete']),
      store: Type.Boolean(),
      usage: responseUsage,
      cost_billed_brl: brl,
    },
    open,
  ),
}

export const embeddings: ModelCallContract = {
  summary: 'Transforma textos em vetores',
  bodyType: 'application/json',
  body: Type.Object(
    {
      model,
      ...routing,
      input: Type.Union([
        Type.String({ minLength: 1 }),
        Type.Array(Type.String({ minLength: 1 }), { minItems: 1, maxItems: INPUTS_MAX }),
      ]),
      dimensions: Type.Optional(Type.Integer({ minimum: 1 })),
      encoding_format: Type.Optional(Type.Enum(['float', 'base64'])),
    },
    open,
  ),
  answer: Type.Object({
    object: Type.Literal('list'),
    data: Type.Array(
      Type.Object({
        object: Type.Literal('embedding'),
        index: count,
        embedding: Type.Union([Type.Array(Type.Number()), Type.String()]),
      }),
    ),
    model: Type.String(),
    usage: Type.Object({ prompt_tokens: count, total_tokens: count }),
    cost_billed_brl: brl,
  }),
}

const text = Type.String({ minLength: 1 })

export const rerank: ModelCallContract = {
  summary: 'Ordena documentos pelo que respondem a uma pergunta',
  bodyType: 'application/json',
  body: Type.Object(
    {
      model,
      ...routing,
      query: text,
      documents: Type.Array(Type.Union([text, Type.Object({ text }, open)]), {
        minItems: 1,
        maxItems: DOCUMENTS_MAX,
      }),
      top_n: Type.Optional(Type.Integer({ minimum: 1 })),
      return_documents: Type.Optional(Type.Boolean({ default: false })),
      max_tokens_per_doc: Type.Optional(Type.Integer({ minimum: 1 })),
    },
    open,
  ),
  answer: Type.Object({
    id: Type.String(),
    model: Type.String(),
    results: Type.Array(
      Type.Object({
        index: count,
        relevance_score: Type.Number(),
        document: Type.Optional(Type.Object({ text: Type.String() })),
      }),
    ),
    meta: Type.Object({
      api_version: Type.Object({ version: Type.String() }),
      billed_units: Type.Object({ search_units: Type.Optional(count) }),
    }),
    usage: Type.Optional(Type.Object({ total_tokens: count })),
    cost_billed_brl: brl,
  }),
}

const moderated = { minItems: 1, maxItems: MODERATION_INPUTS_MAX }
const perCategory = <Value extends TSchema>(value: Value) => Type.Record(Type.String(), value)

export const moderations: ModelCallContract = {
  summary: 'Julga se um conteúdo é nocivo',
  bodyType: 'application/json',
  body: Type.Object(
    {
      model: Type.Optional(Type.String({ minLength: 1, default: 'omni-moderation-latest' })),
      ...routing,
      input: Type.Union([
        Type.String(),
        Type.Array(Type.String(), moderated),
        Type.Array(
          Type.Union([
            Type.Object({ type: Type.Literal('text'), text: Type.String() }, open),
            Type.Object(
              { type: Type.Literal('image_url'), image_url: Type.Object({ url: text }, open) },
              open,
            ),
          ]),
          moderated,
        ),
      ]),
    },
    open,
  ),
  answer: Type.Object({
    id: Type.String(),
    model: Type.String(),
    results: Type.Array(
      Type.Object({
        flagged: Type.Boolean(),
        categories: perCategory(Type.Union([Type.Boolean(), Type.Null()])),
        category_scores: perCategory(Type.Number()),
        category_applied_input_types: Type.Optional(perCategory(Type.Array(Type.String()))),
      }),
    ),
    usage: Type.Object({ prompt_tokens: count, total_tokens: count }),
    cost_billed_brl: brl,
  }),
}

const imageEvents = {
  stream: Type.Optional(
    Type.Boolean({ default: false, description: 'Um evento com cada imagem em base64.' }),
  ),
  partial_images: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: PARTIAL_IMAGES_MAX,
      description: 'Aceito; só as imagens prontas são enviadas.',
    }),
  ),
}

export const imageGenerations: ModelCallContract = {
  summary: 'Gera imagens a partir de um texto',
  bodyType: 'application/json',
  body: Type.Object(
    {
      model,
      ...routing,
      prompt: Type.String({ minLength: 1 }),
      n: Type.Optional(Type.Integer({ minimum: 1, maximum: IMAGES_MAX, default: 1 })),
      size: Type.Optional(Type.String({ description: '<largura>x<altura>' })),
      quality: Type.Optional(Type.String()),
      response_format: Type.Optional(Type.Enum(['url', 'b64_json'])),
      ...imageEvents,
    },
    open,
  ),
  answer: Type.Object({
    created: Type.Integer(),
    data: Type.Array(
      Type.Object({
        url: Type.Optional(Type.String()),
        b64_json: Type.Optional(Type.String()),
        revised_prompt: Type.Optional(Type.String()),
      }),
    ),
    usage: Type.Optional(
      Type.Object({ input_tokens: count, output_tokens: count, total_tokens: count }),
    ),
    cost_billed_brl: brl,
  }),
}

const imageFile = (description: string) =>
  Type.String({ contentMediaType: 'application/octet-stream', description })

export const imageEdits: ModelCallContract = {
  summary: 'Edita imagens',
  bodyType: 'multipart/form-data',
  body: Type.Object({
    model,
    image: imageFile(
      `Uma imagem PNG, JPEG ou WebP; até ${EDITED_IMAGES_MAX}, repetindo o campo ou em image[].`,
    ),
    mask: Type.Optional(imageFile('O que mudar na primeira imagem: as partes transparentes.')),
    prompt: Type.String({ minLength: 1 }),
    n: Type.Optional(Type.Integer({ minimum: 1, maximum: IMAGES_MAX, default: 1 })),
    size: Type.Optional(Type.String({ description: '<largura>x<altura>' })),
    quality: Type.Optional(Type.String()),
    response_format: Type.Optional(Type.Enum(['url', 'b64_json'])),
    ...imageEvents,
  }),
  answer: imageGenerations.answer,
}

export const speech: ModelCallContract = {
  summary: 'Fala um texto',
  bodyType: 'application/json',
  body: Type.Object(
    {
      model,
      ...routing,
      input: Type.String({ minLength: 1, maxLength: CHARACTERS_MAX }),
      voice: text,
      instructions: Type.Optional(Type.String()),
      response_format: Type.Optional(Type.Enum([...SPEECH_FORMATS], { default: 'mp3' })),
      speed: Type.Optional(Type.Number({ minimum: 0.25, maximum: 4, default: 1 })),
      stream_format: Type.Optional(Type.Enum(['audio', 'sse'], { default: 'audio' })),
    },
    open,
  ),
  answer: Type.Unknown({}),
  answerTypes: [
    'audio/mpeg',
    'audio/ogg',
    'audio/aac',
    'audio/flac',
    'audio/wav',
    'audio/pcm',
    'text/event-stream',
  ],
}

export const transcriptions: ModelCallContract = {
  summary: 'Transcreve um arquivo de áudio',
  bodyType: 'multipart/form-data',
  body: Type.Object({
    file: Type.String({ contentMediaType: 'application/octet-stream' }),
    model: Type.Optional(Type.String()),
    response_format: Type.Optional(Type.Enum([...TRANSCRIPT_FORMATS])),
    language: Type.Optional(Type.String()),
    prompt: Type.Optional(Type.String()),
    temperature: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
    stream: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Eventos com o texto, que é json ou text.',
      }),
    ),
  }),
  answer: Type.Object(
    { text: Type.String(), usage: Type.Object({}, open), cost_billed_brl: brl },
    open,
  ),
}

export const translations: ModelCallContract = {
  ...transcriptions,
  summary: 'Transcreve um arquivo de áudio em inglês',
  body: Type.Omit(transcriptions.body, ['language']),
}

/** A video, as it is when it is asked for. */
export const video = Type.Object({
  id: Type.String(),
  object: Type.Literal('video'),
  model: Type.String(),
  status: Type.Enum(['queued', 'in_progress', 'completed', 'failed']),
  progress: Type.Integer({ minimum: 0, maximum: 100 }),
  created_at: count,
  completed_at: nullable(count),
  expires_at: nullable(Type.Integer({ description: 'Até quando o arquivo pode ser baixado.' })),
  seconds: Type.String({ description: 'Os pedidos; depois de pronto, os que foram cobrados.' }),
  size: nullable(Type.String()),
  prompt: Type.Null({ description: 'O prompt não é guardado.' }),
  remixed_from_video_id: Type.Null(),
  error: nullable(Type.Object({ code: Type.String(), message: Type.String() })),
  cost_billed_brl: nullable(
    Type.Number({
      description: 'BRL; null até ficar pronto ou falhar. Um vídeo que falha custa 0.',
    }),
  ),
})

export const videos: ModelCallContract = {
  summary: 'Começa um vídeo, que é cobrado por segundo quando fica pronto',
  bodyType: 'application/json',
  body: Type.Object(
    {
      model,
      ...routing,
      prompt: Type.String({ minLength: 1, maxLength: PROMPT_CHARACTERS_MAX }),
      seconds: Type.Optional(
        Type.Union([Type.String(), Type.Integer()], {
          description: 'Um dos comprimentos do modelo; sem ele, o primeiro.',
        }),
      ),
      size: Type.Optional(
        Type.String({
          pattern: '^\\d{1,5}x\\d{1,5}$',
          description: 'Um dos tamanhos do modelo; sem ele, o primeiro.',
        }),
      ),
    },
    open,
  ),
  answer: video,
}
