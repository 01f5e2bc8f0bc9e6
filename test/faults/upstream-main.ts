/**
 * The upstream as a program: `node test/faults/upstream-main.ts <port>`. The usage of each answer is drawn
 * from the id of its hold, with reasoning that no chunk shows; every call is recorded (`GET /records`).
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { createRandom, seedOf, type Random } from './random.ts'
import type { UpstreamRecord } from './upstream-record.ts'

const records: UpstreamRecord[] = []
/** Eight bytes, so at most two tokens by any count. */
const DELTA = 'palavra '
const TOKENS_PER_DELTA = 2
const REQUEST_ID = /chamada ([0-9a-f-]{36})/

interface Plan {
  readonly record: UpstreamRecord
  readonly deltas: number
  readonly answerMs: number
}

createServer((request, response) => {
  answer(request, response).catch(() => response.destroy())
}).listen(Number(process.argv[2]), '127.0.0.1')

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method === 'GET') {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(records))
    return
  }
  const plan = planOf(request, await readBody(request))
  records.push(plan.record)
  if (plan.record.isRefused) {
    response.writeHead(500, { 'content-type': 'application/json' })
    response.end('{"error":{"message":"a fault of the upstream"}}')
  } else if (plan.record.isStream) await stream(response, plan)
  else await answerAtOnce(response, plan)
}

/** `quick`, `slow` and `long` give the duration; the output of `full` is as long as its limit allows. */
function planOf(request: IncomingMessage, text: string): Plan {
  const body = JSON.parse(text) as { model: string; stream?: boolean; max_tokens: number }
  const holdId = String(request.headers['x-catraca-call-id'])
  const random = createRandom(seedOf(holdId))
  const deltas = random.between(4, 30)
  const isFull = body.model === 'full'
  const room = body.max_tokens - deltas * TOKENS_PER_DELTA
  const reasoningTokens = isFull ? room : random.between(0, room)
  return {
    deltas,
    answerMs: answerMsOf(body.model, random),
    record: {
      holdId,
      requestId: REQUEST_ID.exec(text)?.[1] ?? '',
      isStream: body.stream === true,
      // More tokens than any count of its text, and fewer than its bytes: an estimate is below the true
      // number, a hold above it.
      promptTokens: Math.ceil(Buffer.byteLength(text) / 2),
      completionTokens: deltas * TOKENS_PER_DELTA + reasoningTokens,
      reasoningTokens,
      isRefused: !isFull && random.next() < 0.02,
      hasAnswered: false,
    },
  }
}

function answerMsOf(model: string, random: Random): number {
  if (model === 'slow') return random.between(1_000, 6_000)
  if (model === 'long') return random.between(5_000, 20_000)
  return random.between(20, 400)
}

function usageOf({ promptTokens, completionTokens, reasoningTokens }: UpstreamRecord): object {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    completion_tokens_details: { reasoning_tokens: reasoningTokens },
  }
}

async function answerAtOnce(response: ServerResponse, plan: Plan): Promise<void> {
  await sleep(plan.answerMs)
  const content = DELTA.repeat(plan.deltas)
  plan.record.hasAnswered = !response.destroyed
  response.setHeader('content-type', 'application/json')
  response.end(
    JSON.stringify({
      id: plan.record.holdId,
      object: 'chat.completion',
      choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
      usage: usageOf(plan.record),
    }),
  )
}

async function stream(response: ServerResponse, plan: Plan): Promise<void> {
  const { record, deltas, answerMs } = plan
  const send = (chunk: object): boolean =>
    response.write(
      `data: ${JSON.stringify({ id: record.holdId, object: 'chat.completion.chunk', ...chunk })}\n\n`,
    )
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (let sent = 0; sent < deltas && !response.destroyed; sent++) {
    send({ choices: [{ index: 0, delta: { content: DELTA }, finish_reason: null }] })
    await sleep(answerMs / deltas)
  }
  send({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })
  send({ choices: [], usage: usageOf(record) })
  record.hasAnswered = !response.destroyed
  response.end('data: [DONE]\n\n')
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}
