import type { PauseReason } from '../../platform/db/tables.ts'
import { brlText } from '../../platform/lib/brl-text.ts'
import type { Excess } from '../../platform/admission/share.ts'
import type { NanoBrl } from '../../platform/lib/money.ts'

/**
 * The table of all error answers of the model API. Messages are for customers: they say in Brazilian Portuguese
 * what happened and what to do, and never quote an upstream or name it.
 */
export interface Refusal {
  readonly kind: 'refused'
  readonly status: number
  readonly type: string
  readonly code: string
  readonly message: string
  readonly retryAfterSeconds?: number
}

const MB = 1024 * 1024

const TO_RESUME = 'Para continuar, retome a chave no painel, em Chaves.'
const PAUSE_CAUSES: Readonly<Record<PauseReason, string>> = {
  anomaly: `: o gasto dela foi muito maior que o habitual. ${TO_RESUME}`,
  leaked: ': alguém informou que o segredo dela está exposto. Revogue-a e crie outra.',
  owner: `. ${TO_RESUME}`,
  operator: ' pela operação do serviço. Fale com o suporte.',
}

/** The model calls under `/v1`, for who asks for another. */
const BUILT_CALLS: readonly string[] = [
  'chat/completions',
  'completions',
  'responses',
  'messages',
  'messages/count_tokens',
  'messages/batches',
  'embeddings',
  'rerank',
  'moderations',
  'images/generations',
  'images/edits',
  'audio/speech',
  'audio/transcriptions',
  'audio/translations',
  'files',
  'batches',
  'videos',
]

export const refusals = {
  invalidRequest: (message: string) => refusal(400, 'invalid_request', message),
  /** `found` and `places` name kinds and fields, never values. */
  personalDataFound: (found: string, places: string) =>
    refusal(
      400,
      'personal_data_found',
      `A proteção de dados pessoais (LGPD) recusou esta requisição: há ${found} em ${places}. Nada foi enviado ao modelo e nada foi cobrado. Remova esses dados, ou mude a proteção da chave ou da conta.`,
    ),
  textsTooLong: (charactersMax: number, valuesMax: number) =>
    refusal(
      413,
      'invalid_request',
      `Com a proteção de dados pessoais (LGPD), os textos de uma requisição podem ter até ${Math.floor(charactersMax / 1_000_000)} milhões de caracteres e ${Math.floor(valuesMax / 1_000)} mil dados pessoais. Divida a requisição.`,
    ),
  authenticationFailed: () =>
    refusal(
      401,
      'authentication_failed',
      'Chave de API inválida, revogada ou expirada. Confira o cabeçalho Authorization: Bearer <chave>.',
    ),
  keyMissing: () =>
    refusal(
      401,
      'authentication_failed',
      'A requisição não tem chave de API. Envie-a no cabeçalho Authorization: Bearer <chave>.',
    ),
  /** Agents look for the code, or for these English words, and shorten the conversation by themselves. */
  contextTooLong: () =>
    refusal(
      400,
      'context_length_exceeded',
      'O texto da requisição não cabe no contexto do modelo ("prompt is too long: maximum context length exceeded"). Nada foi cobrado. Encurte a conversa.',
    ),
  contentRefused: () =>
    refusal(
      400,
      'content_policy_violation',
      'O modelo recusou o conteúdo desta requisição pelas regras de uso dele. Nada foi cobrado. Mude o texto ou as imagens.',
    ),
  addressRefused: () =>
    refusal(
      400,
      'invalid_request',
      'O conteúdo de um endereço desta requisição não pôde ser lido. Nada foi cobrado. Confira se o endereço é público, responde sem senha e leva a uma imagem ou a um documento (PDF, texto ou Office); uma requisição pode ter até 20 arquivos, 50 MB de imagens e 20 MB de documentos (4 MB em cada texto), lidos em até 20 segundos. Ou envie o conteúdo em base64.',
    ),
  /** 400 and these English words, by which client libraries send the whole conversation instead. */
  previousResponseNotFound: (id: string) =>
    refusal(
      400,
      'previous_response_not_found',
      `A resposta "${shown(id)}" não está guardada aqui ("Previous response not found"): ela não existe, foi apagada ou passou do prazo, ou uma resposta anterior a ela. Envie a conversa inteira em "input".`,
    ),
  responsesNotStored: () =>
    refusal(
      400,
      'previous_response_not_found',
      'O campo "previous_response_id" não está disponível aqui ("Previous response not found"): a conta não guarda respostas. Ligue isso em Perfil, ou envie a conversa inteira em "input".',
    ),
  previousResponseFailed: () =>
    refusal(
      400,
      'invalid_request',
      'A resposta de "previous_response_id" terminou com falha e não pode ser continuada. Continue a anterior, ou envie a conversa inteira em "input".',
    ),
  conversationTooLong: (max: number) =>
    refusal(
      400,
      'invalid_request',
      `Esta conversa tem mais de ${max} respostas guardadas. Envie em "input" o que importa dela.`,
    ),
  conversationTooLarge: (bytesMax: number) =>
    refusal(
      413,
      'invalid_request',
      `Com as respostas guardadas, a requisição passa do limite de ${Math.floor(bytesMax / MB)} MB. Envie em "input" o que importa da conversa.`,
    ),
  responseNotFound: (id: string) =>
    refusal(
      404,
      'response_not_found',
      `A resposta "${shown(id)}" não existe: não foi guardada, foi apagada ou passou do prazo.`,
    ),
  videoNotFound: (id: string) =>
    refusal(
      404,
      'video_not_found',
      `O vídeo "${shown(id)}" não existe: não foi pedido aqui, foi apagado ou passou do prazo.`,
    ),
  videoNotReady: () =>
    refusal(
      400,
      'video_not_ready',
      'Este vídeo ainda não está pronto, ou falhou. Consulte o "status" dele em GET /v1/videos/{id}.',
    ),
  videoNotEnded: () =>
    refusal(
      400,
      'video_not_ready',
      'Este vídeo ainda está sendo feito. Apague-o em alguns minutos, quando ele terminar.',
    ),
  videoUnreadable: () =>
    refusal(
      502,
      'upstream_error',
      'O arquivo do vídeo não pôde ser lido agora. Baixar de novo não custa nada. Tente em alguns segundos.',
    ),
  /** Without a number for a team's key: its member sees nothing of the account that pays, and cannot top it up. */
  insufficientBalance: (
    { teamId }: { readonly teamId: string | null },
    lack?: BalanceLack,
    tokensThatFit?: number,
  ) =>
    refusal(
      402,
      'insufficient_balance',
      teamId === null
        ? `Saldo insuficiente para esta requisição${lack ? `: ${lackText(lack)}` : '.'} ${limitAdvice(tokensThatFit)}`
        : 'O saldo da conta que paga por esta equipe não basta para esta requisição. Reduza max_tokens, ou fale com quem administra a equipe.',
    ),
  /** 429, because client libraries try it again by themselves, and 402 not. */
  balanceOnHold: (lack?: BalanceLack) =>
    refusal(
      429,
      'balance_on_hold',
      `O saldo está reservado por outras requisições suas em andamento${lack ? `: ${lackText(lack)}` : '.'} Tente de novo quando elas terminarem.`,
      2,
    ),
  budgetExceeded: (tokensThatFit: number | undefined) =>
    refusal(
      402,
      'key_budget_exceeded',
      tokensThatFit === undefined
        ? 'Esta requisição não cabe no que resta do orçamento desta chave de API neste período. Aumente o orçamento ou use outra chave.'
        : `Esta requisição não cabe no orçamento desta chave de API. Com max_tokens de até ${tokensThatFit} ela caberia.`,
    ),
  teamCapExceeded: (tokensThatFit: number | undefined) =>
    refusal(
      402,
      'team_cap_exceeded',
      tokensThatFit === undefined
        ? 'Esta requisição não cabe no que resta do limite mensal da equipe desta chave de API. Peça a quem administra a equipe que o aumente.'
        : `Esta requisição não cabe no limite mensal da equipe desta chave de API. Com max_tokens de até ${tokensThatFit} ela caberia.`,
    ),
  /** The same request fits once the minute has ended, so clients may try again by themselves. */
  keyMinuteCapReached: (message: string, retryAfterSeconds: number) =>
    refusal(429, 'key_minute_cap_exceeded', message, retryAfterSeconds),
  keyMinuteCapExceeded: (message: string) => refusal(402, 'key_minute_cap_exceeded', message),
  keyDayCapExceeded: (message: string) => refusal(402, 'key_day_cap_exceeded', message),
  keyTaskCapExceeded: (message: string) => refusal(402, 'key_task_cap_exceeded', message),
  maxCostExceeded: (message: string) => refusal(402, 'max_cost_exceeded', message),
  ipBlocked: () =>
    refusal(
      403,
      'ip_blocked_by_allowlist',
      'O seu endereço IP não está na lista permitida desta chave de API.',
    ),
  keyOfOperator: () =>
    refusal(
      403,
      'key_scope_insufficient',
      'Esta chave de API só lê as rotas de operação e não chama modelos. Crie outra no painel, em Chaves.',
    ),
  keyPaused: (reason: PauseReason) =>
    refusal(
      403,
      'key_paused',
      `Esta chave de API está pausada${PAUSE_CAUSES[reason]} Nada foi cobrado.`,
    ),
  accountSuspended: () =>
    refusal(
      403,
      'account_suspended',
      'Esta conta está suspensa, por um pagamento contestado ou pela operação do serviço. Fale com o suporte.',
    ),
  modelAccessDenied: (model: string) =>
    refusal(
      403,
      'key_model_access_denied',
      `Esta chave de API não tem acesso ao modelo "${shown(model)}".`,
    ),
  /** `nearest` are models that the caller may use. */
  modelNotFound: (model: string, nearest: readonly string[]) =>
    refusal(
      404,
      'model_not_found',
      `O modelo "${shown(model)}" não existe no catálogo.${nearest.length === 0 ? '' : ` Os nomes mais parecidos: ${nearest.join(', ')}.`} Veja GET /models.`,
    ),
  noRouteForProvider: (model: string) =>
    refusal(
      404,
      'no_route_for_provider',
      `Nenhum provedor do modelo "${shown(model)}" atende ao que o campo "provider" pede. Nada foi cobrado. Mude "only", "ignore", "order", "max_price" ou "data_collection".`,
    ),
  routeNotFound: () =>
    refusal(404, 'not_found', 'Este endereço não existe. Confira o método e o caminho.'),
  /** A path that client libraries know, of a kind of call that is not built. */
  endpointNotAvailable: () =>
    refusal(
      404,
      'endpoint_not_available',
      `Este serviço não tem esta operação. Nada foi cobrado. Existem em /v1: ${BUILT_CALLS.join(', ')} e models; no formato do Gemini, os modelos de /v1beta.`,
    ),
  /** 426: a client that tries a WebSocket first goes on without one at once. */
  upgradeRefused: () =>
    refusal(426, 'not_found', 'Este endereço não fala WebSocket. Envie a requisição por HTTP.'),
  codingRefused: () =>
    refusal(
      415,
      'invalid_request',
      'O corpo desta requisição pode vir sem compressão, ou em gzip, deflate, br ou zstd; um formulário só sem compressão. Confira o cabeçalho content-encoding.',
    ),
  payloadTooLarge: (bytesMax: number) =>
    refusal(
      413,
      'invalid_request',
      `O corpo da requisição passa do limite de ${bytesMax >= MB ? `${Math.floor(bytesMax / MB)} MB` : `${Math.floor(bytesMax / 1024)} KB`}.`,
    ),
  ipLimited: (retryAfterSeconds: number) =>
    refusal(
      429,
      'rate_limit_exceeded',
      'Muitas requisições deste endereço IP neste minuto. Aguarde e tente de novo.',
      retryAfterSeconds,
    ),
  keyLimited: (retryAfterSeconds: number) =>
    refusal(
      429,
      'api_key_rate_limited',
      'O limite de requisições por minuto desta chave de API foi atingido. Aguarde e tente de novo.',
      retryAfterSeconds,
    ),
  tokensLimited: (retryAfterSeconds: number) =>
    refusal(
      429,
      'api_key_rate_limited',
      'O limite de tokens por minuto desta chave de API foi atingido. Aguarde ou reduza max_tokens.',
      retryAfterSeconds,
    ),
  tooManyCalls: (max: number) =>
    refusal(
      429,
      'rate_limit_exceeded',
      `Esta conta já tem ${max} requisições em andamento ao mesmo tempo. Espere alguma terminar e tente de novo.`,
      1,
    ),
  tooManySockets: (max: number) =>
    refusal(
      429,
      'rate_limit_exceeded',
      `Esta conta já tem ${max} WebSockets abertos. Feche algum, ou envie a requisição por HTTP.`,
      1,
    ),
  tooManyKeyCalls: (max: number) =>
    refusal(
      429,
      'key_concurrency_exceeded',
      `Esta chave de API tem um limite de ${max} ${max === 1 ? 'requisição' : 'requisições'} ao mesmo tempo. Espere alguma terminar, ou aumente o limite da chave, no painel ou com PATCH /api-keys/{id}.`,
      1,
    ),
  tooManyBytes: () =>
    refusal(
      429,
      'rate_limit_exceeded',
      'Esta conta tem dados demais em requisições e respostas ao mesmo tempo. Espere alguma terminar e tente de novo.',
      1,
    ),
  tooMuchUnpaidWork: (retryAfterSeconds: number, tokens: number) =>
    refusal(
      429,
      'rate_limit_exceeded',
      `Muitas respostas inteiras desta conta passaram do tempo limite ou da memória na última hora. Em conversas, use "stream": true, ou max_tokens de até ${tokens} sem logprobs e com menos texto; para imagens e áudio, tente de novo mais tarde.`,
      retryAfterSeconds,
    ),
  modelLimited: (retryAfterSeconds: number) =>
    refusal(
      429,
      'rate_limit_exceeded',
      'O modelo está recebendo requisições demais. Aguarde e tente de novo.',
      retryAfterSeconds,
    ),
  internalError: () =>
    refusal(
      500,
      'internal_error',
      'Erro inesperado. Nada foi cobrado. Informe o valor do cabeçalho x-request-id ao suporte.',
    ),
  upstreamError: () =>
    refusal(
      502,
      'upstream_error',
      'Falha temporária ao processar a requisição. Nada foi cobrado. Tente de novo em alguns segundos.',
    ),
  tooSlowWithoutStream: () =>
    refusal(
      502,
      'upstream_error',
      'O modelo não terminou a resposta dentro do tempo limite. Nada foi cobrado. Use "stream": true ou reduza max_tokens.',
    ),
  answerTooLong: () =>
    refusal(
      502,
      'upstream_error',
      'A resposta do modelo passou do tamanho máximo de uma resposta inteira. Nada foi cobrado. Use "stream": true ou peça uma resposta menor.',
    ),
  streamBroken: () =>
    refusal(
      502,
      'upstream_error',
      'A resposta foi interrompida antes do fim. Só foi cobrado o que chegou a ser gerado.',
    ),
  serviceUnavailable: () =>
    refusal(
      503,
      'service_unavailable',
      'Serviço temporariamente indisponível. Nada foi cobrado. Tente de novo em alguns minutos.',
    ),
  nodeBusy: () =>
    refusal(
      503,
      'service_unavailable',
      'O servidor está com mais chamadas do que consegue atender agora. Nada foi cobrado. Tente de novo em instantes.',
      2,
    ),
  servicePaused: () =>
    refusal(
      503,
      'service_paused',
      'As chamadas de modelos estão pausadas pela operação do serviço. Nada foi cobrado, e o saldo não muda. Acompanhe a página de status e tente de novo em alguns minutos.',
      60,
    ),
  /** No upstream that has a key serves it: trying again does not help. */
  modelNotServed: () =>
    refusal(
      503,
      'service_unavailable',
      'Este modelo está indisponível. Nada foi cobrado. Escolha outro modelo em GET /models.',
    ),
  noMemory: () =>
    refusal(
      503,
      'service_unavailable',
      'O serviço está recebendo dados demais neste momento. Nada foi cobrado. Tente de novo em alguns segundos.',
      2,
    ),
  tooManyConnections: () =>
    refusal(
      503,
      'service_unavailable',
      'O serviço está com conexões demais neste momento. Nada foi cobrado. Tente de novo em alguns segundos.',
      2,
    ),
  /** With a pause where one is known: of the breaker that is open, or of the upstream. */
  modelUnavailable: (retryAfterSeconds?: number) =>
    refusal(
      503,
      'service_unavailable',
      'Modelo temporariamente indisponível. Tente de novo em alguns minutos.',
      retryAfterSeconds,
    ),
} satisfies Record<string, (...facts: never[]) => Refusal>

/** Returns the refusal when the memory of a customer, or of the node, is used up. */
export function refusalOfExcess(excess: Excess): Refusal {
  return excess === 'own' ? refusals.tooManyBytes() : refusals.noMemory()
}

export function isRefusal(value: object): value is Refusal {
  return (value as { kind?: unknown }).kind === 'refused'
}

/** Writes the JSON body of an error answer of the model API. `param` is for client libraries, which read it. */
export function refusalBody(refused: Refusal): string {
  const { message, type, code } = refused
  return JSON.stringify({ error: { message, type, code, param: null } })
}

function refusal(
  status: number,
  code: string,
  message: string,
  retryAfterSeconds?: number,
): Refusal {
  return {
    kind: 'refused',
    status,
    type: code,
    code,
    message,
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  }
}

/** What a call would have to hold, and the balance that is there for it. */
export interface BalanceLack {
  readonly neededNanoBrl: NanoBrl
  readonly freeNanoBrl: NanoBrl
  readonly heldNanoBrl: NanoBrl
}

function lackText({ neededNanoBrl, freeNanoBrl, heldNanoBrl }: BalanceLack): string {
  const free = freeNanoBrl > 0n ? freeNanoBrl : 0n
  return `ela precisa de ${brlText(neededNanoBrl)}, há ${brlText(free)} livres, e outras requisições em andamento reservam ${brlText(heldNanoBrl)}.`
}

function limitAdvice(tokens: number | undefined): string {
  if (tokens === undefined || tokens < 1) return 'Faça uma recarga para continuar.'
  return `Com o saldo disponível, max_tokens pode ser de até ${tokens}. Reduza max_tokens ou faça uma recarga.`
}

/** Makes client text safe for a message: at most 80 characters, no control characters and no quotes. */
function shown(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return text.replace(/[\u0000-\u001f\u007f"]/g, ' ').slice(0, 80)
}
