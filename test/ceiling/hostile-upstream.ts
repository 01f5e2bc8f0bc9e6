/**
 * Plays every provider on one port: reads the received request, bills the most that the provider's rules
 * allow, reports it as usage, and keeps the bill under the gateway's call id.
 */
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  billAnthropic,
  billBedrock,
  billCohere,
  billGemini,
  billGeminiImage,
} from './ai-sdk-formats.ts'
import { unknownFields } from './allow-lists.ts'
import { costOf, counts, type Bill } from './bill.ts'
import { DEAD, truthOf, type ModelTruth } from './model-truth.ts'
import {
  billOpenAiChat,
  billOpenAiEmbeddings,
  billOpenAiImages,
  billOpenAiResponse,
  inputsOf,
  listOf,
} from './openai-format.ts'
import { billEdit, billTranscription, parseForm } from './form-bills.ts'
import { billModeration, billRerank, billSpeech } from './text-unit-bills.ts'
import {
  anthropicAnswer,
  bedrockAnswer,
  cohereAnswer,
  geminiAnswer,
  openAiAnswer,
  openAiEmbeddings,
  openAiImages,
  openAiResponse,
  judgements,
  plainJson,
  ranks,
  speech,
  transcription,
  type Answer,
} from './write-answers.ts'

type Body = Record<string, unknown>

export interface Received {
  readonly bill: Bill
  /** The start of the received request, for a failure report. */
  readonly text: string
}

export interface HostileUpstream {
  readonly url: string
  /** The bill of a call; it is forgotten once it is taken. */
  take(callId: string): Received[]
  /** Requests that this server could not read, which are faults of this test. */
  readonly failures: readonly string[]
  close(): Promise<void>
}

export async function startHostileUpstream(): Promise<HostileUpstream> {
  const received = new Map<string, Received[]>()
  const failures: string[] = []
  const server: Server = createServer((request, response) => {
    void (async () => {
      const raw = await readAll(request)
      if (raw.includes(`"model":"${DEAD}"`)) {
        response.writeHead(503, { 'content-type': 'application/json' })
        response.end('{"error":{"message":"dead"}}')
        return
      }
      const { bill, answer } = serve(request, raw)
      const callId = String(request.headers['x-catraca-call-id'])
      const text = raw.toString('utf8', 0, 2_000)
      received.set(callId, [...(received.get(callId) ?? []), { bill, text }])
      response.writeHead(200, { 'content-type': answer.type })
      response.end(answer.body)
    })().catch((error: unknown) => {
      failures.push(`${request.url}: ${String((error as Error).stack)}`)
      response.writeHead(400, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ error: { message: String((error as Error).stack) } }))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    failures,
    take(callId) {
      const taken = received.get(callId) ?? []
      received.delete(callId)
      return taken
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function readAll(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = []
  for await (const part of request as AsyncIterable<Buffer>) parts.push(part)
  return Buffer.concat(parts)
}

interface Served {
  readonly bill: Bill
  readonly answer: Answer
}

function serve(request: IncomingMessage, raw: Buffer): Served {
  const path = decodeURIComponent(request.url ?? '')
  const type = request.headers['content-type'] ?? ''
  if (type.startsWith('multipart/form-data')) {
    const form = parseForm(type, raw)
    const last = path.slice(path.lastIndexOf('/') + 1)
    if (last === 'edits') {
      const bill = billEdit(form)
      return { bill, answer: openAiImages(bill, Number(new Map(form.texts).get('n') ?? 1)) }
    }
    const bill = billTranscription(form, last as 'transcriptions' | 'translations')
    const isStream = new Map(form.texts).get('stream') === 'true'
    return { bill, answer: transcription(bill, isStream) }
  }
  const body = JSON.parse(raw.toString()) as Body
  if (path.startsWith('/google') || path.startsWith('/vertex')) return serveGoogle(path, body)
  if (path.startsWith('/bedrock')) return serveBedrock(path, body)
  const model = modelOf(String(body.model))
  const isStream = body.stream === true
  if (path.startsWith('/anthropic')) {
    const bill = billAnthropic(model, body, String(request.headers['anthropic-beta'] ?? ''))
    return { bill, answer: anthropicAnswer(bill, isStream) }
  }
  if (path.startsWith('/cohere')) return serveCohere(path, model, body)
  if (path.endsWith('/embeddings')) {
    const bill = billOpenAiEmbeddings(model, body)
    return { bill, answer: openAiEmbeddings(bill, inputsOf(body.input).length) }
  }
  if (path.endsWith('/rerank')) {
    const bill = billRerank(model, body)
    return { bill, answer: ranks(bill, (body.documents as unknown[]).length) }
  }
  if (path.endsWith('/moderations')) {
    const bill = billModeration(model, body)
    return { bill, answer: judgements(bill, body.input as unknown[]) }
  }
  if (path.endsWith('/audio/speech')) {
    const bill = billSpeech(model, body)
    return { bill, answer: speech(bill, body.stream_format === 'sse') }
  }
  if (path.endsWith('/images/generations')) {
    const bill = billOpenAiImages(model, body)
    return { bill, answer: openAiImages(bill, Number(body.n ?? 1)) }
  }
  if (path.endsWith('/responses')) {
    const bill = billOpenAiResponse(model, body)
    return { bill, answer: openAiResponse(bill, isStream) }
  }
  const bill = billOpenAiChat(model, body)
  return { bill, answer: openAiAnswer(bill, Number(body.n ?? 1), isStream) }
}

function serveGoogle(path: string, body: Body): Served {
  const [, id = '', method = ''] = /models\/([^:]+):(\w+)/.exec(path) ?? []
  const model = modelOf(id)
  if (method.endsWith('mbedContent') || method.endsWith('mbedContents')) {
    const requests = method.startsWith('batch') ? listOf(body.requests) : [body]
    const unknown = unknownFields('google embeddings', body)
    const bill = embeddingBill(
      model,
      requests.map(({ content }) => content),
      unknown,
    )
    const values = [0.5]
    const usageMetadata = { promptTokenCount: bill.promptTokens }
    const embeddings = requests.map(() => ({ values }))
    const answer = method.startsWith('batch') ? { embeddings } : { embedding: { values } }
    return { bill, answer: plainJson({ ...answer, usageMetadata }) }
  }
  const isImage = model.kind === 'images'
  const bill = isImage ? billGeminiImage(model, body) : billGemini(model, body)
  return { bill, answer: geminiAnswer(bill, method.startsWith('stream'), isImage) }
}

function serveBedrock(path: string, body: Body): Served {
  const [, id = '', method = ''] = /\/model\/(.+)\/([a-z-]+)$/.exec(path) ?? []
  const model = modelOf(id)
  if (method === 'invoke') {
    const unknown = unknownFields('amazon-bedrock embeddings', body)
    const bill = embeddingBill(model, [body.inputText], unknown)
    return { bill, answer: plainJson({ embedding: [0.5], inputTextTokenCount: bill.promptTokens }) }
  }
  const bill = billBedrock(model, body)
  return { bill, answer: bedrockAnswer(bill, method === 'converse-stream') }
}

function serveCohere(path: string, model: ModelTruth, body: Body): Served {
  if (path.endsWith('/embed')) {
    const texts = body.texts as string[]
    const bill = embeddingBill(model, texts, unknownFields('cohere embeddings', body))
    return {
      bill,
      answer: plainJson({
        id: 'e',
        embeddings: { float: texts.map(() => [0.5]) },
        texts,
        meta: { billed_units: { input_tokens: bill.promptTokens } },
        response_type: 'embeddings_by_type',
      }),
    }
  }
  const bill = billCohere(model, body)
  return { bill, answer: cohereAnswer(bill, body.stream === true) }
}

/** Each text separately: its bytes and the formatting around it, up to the limit of what the model reads. */
function embeddingBill(model: ModelTruth, inputs: unknown[], unknown: readonly string[]): Bill {
  const sizeOf = (value: unknown): number =>
    typeof value === 'string'
      ? Buffer.byteLength(value)
      : typeof value === 'object' && value !== null
        ? Object.values(value).reduce((sum: number, each: unknown) => sum + sizeOf(each), 0)
        : 0
  const promptTokens = inputs.reduce(
    (sum: number, input) => sum + Math.min(sizeOf(input) + 2, model.context),
    0,
  )
  const of = counts({ promptTokens })
  return { ...of, model, costPicoUsd: costOf(model, of), unknown }
}

function modelOf(upstreamModel: string): ModelTruth {
  const model = truthOf(upstreamModel)
  if (!model) throw new Error(`an unknown model: ${upstreamModel}`)
  return model
}
