import { PROVIDER_REFUSALS, type ProviderRefusal } from './provider-refusals.ts'

/** How the bytes of the answer are sent. Only `whole` and `split` deliver a complete answer. */
export type Delivery = 'whole' | 'split' | 'cut' | 'stall' | 'hang' | 'garbage' | 'error_in_stream'

export interface Pace {
  readonly firstTokenMs: number
  /** Undefined: no delay between tokens. */
  readonly tokensPerSecond: number | undefined
}

/**
 * The behaviour of a model name at every endpoint: a model refuses, breaks off or hangs for embeddings, images and
 * transcriptions as it does for chats. Text and reasoning apply to chats only; where nothing is streamed, only the pace's
 * time to the first token applies.
 */
export interface SandboxModel {
  readonly id: string
  /** For customers, so in Portuguese: the behaviour that this model demonstrates. */
  readonly description: string
  readonly pace: Pace
  readonly delivery: Delivery
  readonly text: 'greeting' | 'long' | 'big'
  readonly usage: 'true' | 'none' | 'overrun' | 'half_cached'
  readonly hasReasoning: boolean
  readonly refusal: ProviderRefusal | undefined
  /** 1: every call is refused; 2: every second one. */
  readonly refusesEvery: number
}

/** Fast, but the first token comes a real turn of the event loop after the request. */
const WELL_BEHAVED: Omit<SandboxModel, 'id' | 'description'> = {
  pace: { firstTokenMs: 5, tokensPerSecond: undefined },
  delivery: 'whole',
  text: 'greeting',
  usage: 'true',
  hasReasoning: false,
  refusal: undefined,
  refusesEvery: 1,
}

export const SANDBOX_MODELS: readonly SandboxModel[] = [
  define('sandbox-chat', 'Responde na hora, como um modelo bem-comportado.'),
  define('sandbox-slow', 'Pensa por 2 segundos e escreve 20 tokens por segundo.', {
    pace: { firstTokenMs: 2000, tokensPerSecond: 20 },
  }),
  define('sandbox-long', 'Escreve 400 tokens em cerca de 8 segundos.', {
    text: 'long',
    pace: { firstTokenMs: 5, tokensPerSecond: 50 },
  }),
  define('sandbox-big', 'Escreve cerca de 2 MB de texto de uma vez.', { text: 'big' }),
  define('sandbox-reasoning', 'Raciocina antes de responder e informa os tokens de raciocínio.', {
    hasReasoning: true,
  }),
  define('sandbox-cached', 'Informa metade dos tokens de entrada como vindos do cache.', {
    usage: 'half_cached',
  }),
  define('sandbox-no-usage', 'Responde sem informar o uso de tokens.', { usage: 'none' }),
  define('sandbox-overrun', 'Informa muito mais tokens de saída do que o limite pedido.', {
    usage: 'overrun',
  }),
  define('sandbox-split', 'Responde certo, com os bytes cortados nos piores lugares.', {
    delivery: 'split',
  }),
  define('sandbox-flaky', 'Falha com erro 500 a cada segunda chamada.', {
    refusal: PROVIDER_REFUSALS.serverError,
    refusesEvery: 2,
  }),
  define('sandbox-error-400', 'Recusa toda chamada com erro 400.', {
    refusal: PROVIDER_REFUSALS.badRequest,
  }),
  define('sandbox-error-401', 'Recusa toda chamada com erro 401.', {
    refusal: PROVIDER_REFUSALS.badCredentials,
  }),
  define('sandbox-error-429', 'Recusa toda chamada com erro 429 e `retry-after: 1`.', {
    refusal: PROVIDER_REFUSALS.rateLimited,
  }),
  define('sandbox-error-500', 'Recusa toda chamada com erro 500.', {
    refusal: PROVIDER_REFUSALS.serverError,
  }),
  define('sandbox-error-503', 'Recusa toda chamada com erro 503.', {
    refusal: PROVIDER_REFUSALS.overloaded,
  }),
  define('sandbox-html-error', 'Responde 502 com uma página HTML no lugar de JSON.', {
    refusal: PROVIDER_REFUSALS.htmlPage,
  }),
  define('sandbox-error-in-stream', 'Começa a responder e manda um erro no meio.', {
    delivery: 'error_in_stream',
  }),
  define('sandbox-cut-stream', 'Começa a responder e derruba a conexão.', { delivery: 'cut' }),
  define('sandbox-stall', 'Começa a responder e nunca mais manda nada.', { delivery: 'stall' }),
  define('sandbox-hang', 'Nunca responde.', { delivery: 'hang' }),
  define('sandbox-garbage', 'Responde 200 com JSON quebrado.', { delivery: 'garbage' }),
  define('sandbox-embedding', 'Transforma textos em vetores de comprimento 1.'),
  define('sandbox-rerank', 'Ordena documentos pelas palavras que têm em comum com a pergunta.'),
  define('sandbox-moderation', 'Julga textos pelas palavras deles; imagens, nunca.'),
  define('sandbox-image', 'Desenha um degradê em PNG, com cores tiradas do prompt.'),
  define('sandbox-speech', 'Fala um texto: um tom tão longo quanto a fala.'),
  define('sandbox-speech-tokens', 'Fala um texto e informa tokens, com stream_format sse.'),
  define('sandbox-video', 'Faz um vídeo em dois segundos: um arquivo sem filme.'),
  define('sandbox-transcribe', 'Transcreve áudio com frases inventadas e informa os segundos.'),
  define('sandbox-transcribe-tokens', 'Transcreve áudio e informa tokens; só em json ou text.'),
]

const byId = new Map(SANDBOX_MODELS.map((model) => [model.id, model]))

/**
 * Finds a model by the part of its name after the last slash. An unknown name is `sandbox-chat`, which behaves well at
 * every endpoint.
 */
export function findSandboxModel(name: string): SandboxModel {
  const id = name.slice(name.lastIndexOf('/') + 1)
  return byId.get(id) ?? (SANDBOX_MODELS[0] as SandboxModel)
}

function define(id: string, description: string, traits: Partial<SandboxModel> = {}): SandboxModel {
  return { ...WELL_BEHAVED, ...traits, id, description }
}
