/**
 * The sandbox upstream: a separate server with OpenAI's APIs for chats (chat completions and Responses), embeddings,
 * rerank, moderations, images, speech, transcriptions and videos, Anthropic's for chats (Messages) and Google's for videos. A first
 * try needs no account anywhere, and tests can cause every failure of a provider. The gateway calls it over HTTP like any
 * provider; it has no money and no customers. The model's name selects its behaviour: see `sandbox-models.ts`. Not for
 * production.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { urlHost } from '../url-host.ts'
import { BadRequest } from './read-field.ts'
import { createSandboxEmbeddings } from './create-sandbox-embeddings.ts'
import { createSandboxRerank } from './create-sandbox-rerank.ts'
import {
  createSandboxImages,
  readImageAddress,
  type ImageAddress,
} from './create-sandbox-images.ts'
import { createSandboxModerations } from './create-sandbox-moderations.ts'
import { createSandboxSpeech } from './create-sandbox-speech.ts'
import { createSandboxVideos } from './create-sandbox-videos.ts'
import { createSandboxTranscriptions } from './create-sandbox-transcriptions.ts'
import { createErrorBody, type ErrorFacts } from './create-error-body.ts'
import { drawGradient } from './draw-gradient.ts'
import { messagesFormat } from './messages-format.ts'
import { openExchange, type Exchange } from './open-exchange.ts'
import { openTokenizer, type Tokenizer } from './open-tokenizer.ts'
import { responsesFormat } from './responses-format.ts'
import { createCountKeeper, type SandboxCounts } from './sandbox-counts.ts'
import { SANDBOX_MODELS, type SandboxModel, findSandboxModel } from './sandbox-models.ts'
import { readChatRequest, type ChatRequest } from './read-chat-request.ts'
import { createIdentity, renderBody, renderEvents, describeUsage } from './render-answer.ts'
import type { SandboxFormat } from './sandbox-format.ts'
import { composeAnswer } from './compose-answer.ts'
import { createRefuser, refuse, PROVIDER_HEADERS } from './create-refuser.ts'
import { deliverBody, deliverStream } from './deliver-stream.ts'

/** OpenAI's chat completions. */
const chatFormat: SandboxFormat = {
  read: readChatRequest,
  reportsUsage: ({ isStream, includesUsage }) => !isStream || includesUsage,
  renderBody: ({ request, answer, usage }) =>
    renderBody(createIdentity(request.modelName), answer, usage, request.topLogprobs),
  renderEvents: ({ request, answer, usage }) =>
    renderEvents(createIdentity(request.modelName), answer, usage, request),
  ending: 'data: [DONE]\n\n',
}

export interface SandboxUpstream {
  /** Includes the version segment: `http://127.0.0.1:4010/v1`. */
  readonly baseUrl: string
  readonly counts: SandboxCounts
  /** Drops every connection, including those in the middle of an answer. */
  close(): Promise<void>
}

export interface SandboxOptions {
  /** 0, the default, chooses a free port. */
  readonly port?: number
  readonly host?: string
  /** Without it, requests with any key or none are accepted. */
  readonly apiKey?: string | undefined
}

const BODY_BYTES_MAX = 64 * 1024 * 1024
/** Longer than client pools keep a connection, so that the client closes it first. */
const KEEP_ALIVE_MS = 75_000
const CALL_ID_CHARACTERS_MAX = 200

export async function startSandboxUpstream(options: SandboxOptions = {}): Promise<SandboxUpstream> {
  const { port = 0, host = '127.0.0.1', apiKey } = options
  const keeper = createCountKeeper()
  // Opened by the first request that needs it: many processes start this server and never use it.
  let opened: Promise<Tokenizer> | undefined
  const tokenizer = (): Promise<Tokenizer> => (opened ??= openTokenizer())
  const chat = createSandboxChat(chatFormat, tokenizer)
  const responses = createSandboxChat(responsesFormat, tokenizer)
  const messages = createSandboxChat(messagesFormat, tokenizer)
  const embeddings = createSandboxEmbeddings(tokenizer)
  const reranks = createSandboxRerank(tokenizer)
  const moderations = createSandboxModerations(tokenizer)
  const images = createSandboxImages(tokenizer)
  const speech = createSandboxSpeech(tokenizer)
  const transcriptions = createSandboxTranscriptions(tokenizer)
  const videos = createSandboxVideos()

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://sandbox')
    const endpoint = `${request.method} ${url.pathname}`
    if (endpoint === 'GET /stats') {
      return sendJson(
        response,
        200,
        describeCounts(keeper.counts, url.searchParams.get('calls') === '1'),
      )
    }
    const image = request.method === 'GET' ? readImageAddress(url.pathname) : undefined
    // Served before the key is checked: as with OpenAI, the address alone gives access to the picture.
    if (image !== undefined) return sendImage(response, image)
    if (request.method === 'GET' && videos.answerFile(url.pathname, response)) return
    const isKnown =
      request.headers.authorization === `Bearer ${apiKey}` ||
      request.headers['x-api-key'] === apiKey ||
      request.headers['x-goog-api-key'] === apiKey
    if (apiKey !== undefined && !isKnown) {
      return sendError(response, 401, describeBadKey(request.headers.authorization))
    }
    if (endpoint === 'GET /v1/models') {
      return sendJson(response, 200, { object: 'list', data: SANDBOX_MODELS.map(describeModel) })
    }
    if (videos.answer(String(request.method), url.pathname, readOrigin(request), response)) return
    const exchange = () => openExchange(response, keeper, readCallId(request))
    const predicted = /^\/v1beta\/models\/([^/]+):predictLongRunning$/.exec(url.pathname)?.[1]
    switch (endpoint) {
      case 'POST /v1/chat/completions':
        return answerJson(request, exchange(), (opened, text) => chat.completeChat(opened, text))
      case 'POST /v1/responses':
        return answerJson(request, exchange(), (opened, text) =>
          responses.completeChat(opened, text),
        )
      case 'POST /v1/messages':
        return answerJson(request, exchange(), (opened, text) =>
          messages.completeChat(opened, text),
        )
      case 'POST /v1/embeddings':
        return answerJson(request, exchange(), (opened, text) => embeddings.embed(opened, text))
      case 'POST /v1/rerank':
        return answerJson(request, exchange(), (opened, text) => reranks.rerank(opened, text))
      case 'POST /v1/moderations':
        return answerJson(request, exchange(), (opened, text) => moderations.moderate(opened, text))
      case 'POST /v1/images/generations':
        return answerJson(request, exchange(), (opened, text) =>
          images.generateImages(opened, text, readOrigin(request)),
        )
      case 'POST /v1/images/edits':
        return answerBytes(request, exchange(), (opened, body) =>
          images.editImages(
            opened,
            { body, contentType: request.headers['content-type'] },
            readOrigin(request),
          ),
        )
      case 'POST /v1/audio/speech':
        return answerJson(request, exchange(), (opened, text) => speech.speak(opened, text))
      case 'POST /v1/audio/transcriptions':
      case 'POST /v1/audio/translations':
        return transcriptions.transcribe(exchange(), request)
      case 'POST /v1/videos/generations':
        return answerJson(request, exchange(), (opened, text) => videos.generate(opened, text))
      case 'POST /v1/videos':
        return videos.start(exchange(), request, async () =>
          (await readBody(request, BODY_BYTES_MAX))?.toString('utf8'),
        )
      default:
        if (predicted !== undefined && request.method === 'POST')
          return answerJson(request, exchange(), (opened, text) =>
            videos.predict(opened, predicted, text),
          )
        sendError(response, 404, invalidRequest(`Invalid URL (${endpoint})`))
    }
  }

  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
    answer(request, response).catch((error: unknown) => sendFailure(response, error))
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })

  return {
    baseUrl: `http://${urlHost(host)}:${(server.address() as AddressInfo).port}/v1`,
    counts: keeper.counts,
    close() {
      return new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
    },
  }
}

function answerJson(
  request: IncomingMessage,
  exchange: Exchange,
  answer: (exchange: Exchange, text: string) => Promise<void>,
): Promise<void> {
  // Decoded as a whole, because a part may end within a character.
  return answerBytes(request, exchange, (opened, body) => answer(opened, body.toString('utf8')))
}

async function answerBytes(
  request: IncomingMessage,
  exchange: Exchange,
  answer: (exchange: Exchange, body: Buffer) => Promise<void>,
): Promise<void> {
  const body = await readBody(request, BODY_BYTES_MAX)
  if (!exchange.isOpen) return
  if (body === undefined) {
    exchange.response.setHeader('connection', 'close')
    return sendError(exchange.response, 413, invalidRequest('The request body is too large.'))
  }
  await answer(exchange, body)
}

/** The origin by which the client reaches this server: behind a port mapping, no other one works. */
function readOrigin(request: IncomingMessage): string {
  const { localAddress = '127.0.0.1', localPort } = request.socket
  return `http://${request.headers.host ?? `${urlHost(localAddress)}:${localPort}`}`
}

function readCallId(request: IncomingMessage): string | undefined {
  const header = request.headers['x-catraca-call-id']
  return typeof header === 'string' ? header.slice(0, CALL_ID_CHARACTERS_MAX) : undefined
}

function describeCounts(counts: SandboxCounts, withCalls: boolean): object {
  const { calls, ...sums } = counts
  if (!withCalls) return sums
  return { ...sums, calls: Array.from(calls, ([id, call]) => ({ id, ...call })) }
}

/** `description` is not a field of OpenAI, but a catalog can be made from it. */
function describeModel({ id, description }: SandboxModel): object {
  return { id, object: 'model', created: 1_767_225_600, owned_by: 'catraca-sandbox', description }
}

function describeBadKey(authorization: string | undefined): ErrorFacts {
  const key = authorization?.replace(/^Bearer /, '')
  const message =
    key === undefined
      ? "You didn't provide an API key. Send it as 'Authorization: Bearer YOUR_KEY'."
      : `Incorrect API key provided: ${key.slice(0, 4)}***.`
  return { ...invalidRequest(message), code: key === undefined ? null : 'invalid_api_key' }
}

function invalidRequest(message: string): ErrorFacts {
  return { message, type: 'invalid_request_error', param: null, code: null }
}

function sendFailure(response: ServerResponse, error: unknown): void {
  if (error instanceof BadRequest) {
    const { message, param, code } = error
    return sendError(response, 400, { message, type: 'invalid_request_error', param, code })
  }
  console.error('the sandbox upstream failed:', error)
  if (response.headersSent) response.destroy()
  else sendError(response, 500, { ...invalidRequest(String(error)), type: 'server_error' })
}

function sendError(response: ServerResponse, status: number, facts: ErrorFacts): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(createErrorBody(facts))
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

async function sendImage(response: ServerResponse, image: ImageAddress): Promise<void> {
  const png = await drawGradient(image.size, image.colours)
  response.writeHead(200, { 'content-type': 'image/png', 'content-length': png.length }).end(png)
}

/** Resolves to undefined if the body is too long or the client leaves while sending it. */
function readBody(request: IncomingMessage, bytesMax: number): Promise<Buffer | undefined> {
  return new Promise((resolve) => {
    const parts: Buffer[] = []
    let bytes = 0
    request.on('data', (part: Buffer) => {
      bytes += part.length
      if (bytes <= bytesMax) parts.push(part)
      else {
        parts.length = 0
        resolve(undefined)
      }
    })
    request.on('end', () => resolve(Buffer.concat(parts)))
    request.on('close', () => resolve(undefined))
  })
}

interface SandboxChat {
  /** Throws `BadRequest`. Resolves when the answer is written or the client has left. */
  completeChat(exchange: Exchange, text: string): Promise<void>
}

function createSandboxChat<Request extends ChatRequest>(
  format: SandboxFormat<Request>,
  openTokenizer: () => Promise<Tokenizer>,
): SandboxChat {
  const refuser = createRefuser()

  return {
    async completeChat(exchange, text) {
      const request = format.read(text)
      const model = findSandboxModel(request.modelName)
      if (model.delivery === 'hang') return
      if (refuser.isRefused(model)) return refuse(exchange, model)

      const tokenizer = await openTokenizer()
      const answer = composeAnswer(request, model, tokenizer)
      const usage = describeUsage(answer, request, model)
      const rendered = { request, answer, usage, tokenizer }
      const { pace, delivery } = model
      if (usage !== undefined && format.reportsUsage(request)) {
        exchange.reported = {
          promptTokens: usage.prompt_tokens,
          completionTokens: usage.completion_tokens,
          webSearches: request.searches.length,
        }
      }
      const common = { exchange, headers: PROVIDER_HEADERS, pace, delivery }
      if (request.isStream) {
        const events = format.renderEvents(rendered)
        return deliverStream({ ...common, events, ending: format.ending })
      }
      const body = format.renderBody(rendered)
      return deliverBody({ ...common, body, tokens: answer.completionTokens })
    },
  }
}
