/** The rules for every answer of a gateway, whatever the request. */
import assert from 'node:assert/strict'
import type { Asked } from './ask.ts'

const HEADER_UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** The headers that the specification puts on every answer. */
export function assertHeaders(
  answer: Pick<Asked, 'headers' | 'status' | 'askedAtMs'>,
  requestId?: string,
): void {
  const { headers, askedAtMs } = answer
  const id = headers.get('x-svc-request-id') ?? ''
  const ours = headers.get('x-request-id') ?? ''
  assert.match(ours, HEADER_UUID)
  // A client's own id that is no UUID is shown beside ours.
  if (HEADER_UUID.test(id.toLowerCase())) assert.equal(ours, id.toLowerCase())
  else assert.match(id, /^[\x20-\x7e]+$/)
  if (requestId !== undefined) assert.equal(id, requestId, "the client's own id comes back")
  const [limit, remaining, reset] = ['limit', 'remaining', 'reset'].map((name) => {
    const text = headers.get(`x-ratelimit-${name}`) ?? ''
    assert.match(text, /^\d+$/, `x-ratelimit-${name}`)
    return Number(text)
  }) as [number, number, number]
  assert.ok(limit > 0 && remaining >= 0 && remaining <= limit, `${remaining} of ${limit} remain`)
  // The minute it was counted in may be over when a slow answer arrives.
  assert.ok(reset > askedAtMs / 1000 - 2, `reset at ${reset}, asked at ${askedAtMs} ms`)
  assert.ok(reset < Date.now() / 1000 + 62, `resets at ${reset}, told at ${Date.now()} ms`)
  if (answer.status === 429) assert.match(headers.get('retry-after') ?? '', /^[1-9]\d*$/)
}

/** Texts of the sandbox's fictitious provider, and texts by which servers and frameworks identify themselves. */
const TRACES =
  /zephyr|zph-|org-|gpu-node|traceback|shard-|overloaded|preempted|req_sandbox|fp_sandbox|openai|processing-ms|fastify|undici|node_modules|127\.0\.0\.1|ECONN(?:REFUSED|RESET|ABORTED)|nginx|<html|\bat .*\.ts:\d/i

export function assertNoTrace(answer: Pick<Asked, 'headers' | 'text'>): void {
  const found = TRACES.exec(answer.text)?.[0]
  assert.equal(found, undefined, `"${found}" shows in ${answer.text.slice(0, 300)}`)
  for (const [name, value] of answer.headers) {
    assert.doesNotMatch(`${name}: ${value}`, TRACES)
    assert.ok(!['server', 'x-powered-by', 'via'].includes(name), `header ${name} names a program`)
  }
}

const PORTUGUESE =
  /\b(o|a|os|um|de|do|da|das|deve|em|para|por|ou|uma|desta|deste|na|no|que|obrigatório)\b/i
const ENGLISH =
  /\b(the|must|should|invalid|error|missing|is|of|your|not|with|request|unexpected)\b/i

/** A refusal as a customer may see it, with all that the specification says of one. */
export function assertRefusal(answer: Asked, status: number, type: string, code = type): void {
  assert.equal(answer.status, status, answer.text.slice(0, 300))
  assert.match(answer.headers.get('content-type') ?? '', /^application\/json\b/)
  assert.deepEqual(Object.keys(answer.json), ['error'])
  const { error } = answer.json
  assert.deepEqual(Object.keys(error).sort(), ['code', 'message', 'param', 'type'])
  assert.equal(error.param, null)
  assert.equal(error.type, type)
  assert.equal(error.code, code)
  assertSpoken(error.message)
  assertNoTrace(answer)
  assertHeaders(answer, answer.requestId)
}

/** A message for customers is in Portuguese. */
export function assertSpoken(message: string): void {
  assert.match(message, PORTUGUESE)
  // Names of models, fields, headers and paths are not words of the message.
  assert.doesNotMatch(message.replaceAll(/"[^"]*"|\S*[-_/:]\S*/g, ''), ENGLISH)
}

/** The types of errors in the Messages format, which its clients read. */
const MESSAGES_TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
}

/** A refusal in the Messages format. */
export function assertMessagesRefusal(answer: Asked, status: number, code: string): void {
  assert.equal(answer.status, status, answer.text.slice(0, 300))
  assert.match(answer.headers.get('content-type') ?? '', /^application\/json\b/)
  const { error, ...rest } = answer.json
  assert.deepEqual(rest, { type: 'error', request_id: answer.requestId })
  assert.deepEqual(Object.keys(error).toSorted(), ['code', 'message', 'type'])
  assert.deepEqual([error.type, error.code], [MESSAGES_TYPES[status] ?? 'api_error', code])
  assertSpoken(error.message)
  // The format's own word for 503.
  assertNoTrace({ ...answer, text: answer.text.replace('overloaded_error', '') })
  assertHeaders(answer, answer.requestId)
}
