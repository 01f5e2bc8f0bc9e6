/**
 * The requests of the tests of embeddings, images and transcriptions, and the independent computation of their costs.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { request as httpRequest } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseBrl } from '../../src/platform/lib/money.ts'
import { seedCustomer } from './test-database.ts'
import { ask, type Asked } from './ask.ts'
import { untilNoHoldIsOpen } from './assert-audit.ts'
import type { TestGateway } from './gateway.ts'
import type { TestNode } from './test-node.ts'

// ── requests ───────────────────────────────────────────────────────────────────────────────────

/** 16 bits, mono, 16 kHz. */
export const WAV_BYTES_PER_SECOND = 32_000
export const WAV_HEADER_BYTES = 44

export function wavHeader(dataBytes: number): Buffer {
  const header = Buffer.alloc(WAV_HEADER_BYTES)
  header.write('RIFF', 0, 'latin1')
  header.writeUInt32LE(dataBytes + WAV_HEADER_BYTES - 8, 4)
  header.write('WAVEfmt ', 8, 'latin1')
  header.writeUInt32LE(16, 16)
  header.writeUInt16LE(1, 20)
  header.writeUInt16LE(1, 22)
  header.writeUInt32LE(16_000, 24)
  header.writeUInt32LE(WAV_BYTES_PER_SECOND, 28)
  header.writeUInt16LE(2, 32)
  header.writeUInt16LE(16, 34)
  header.write('data', 36, 'latin1')
  header.writeUInt32LE(dataBytes, 40)
  return header
}

/** A tone of this length. */
export function wav(seconds: number): Buffer {
  const data = Buffer.alloc(Math.round(seconds * (WAV_BYTES_PER_SECOND / 2)) * 2)
  for (let at = 0; at < data.length; at += 2)
    data.writeInt16LE(Math.round(8_000 * Math.sin(at / 11)), at)
  return Buffer.concat([wavHeader(data.length), data])
}

/** A field, or a file with a name. */
export type Part =
  | readonly [name: string, value: string]
  | readonly [name: string, bytes: Buffer, fileName: string]

const BOUNDARY = '----catraca-test-boundary'
export const FORM_TYPE = `multipart/form-data; boundary=${BOUNDARY}`
export const FORM_END = Buffer.from(`--${BOUNDARY}--\r\n`)

export function partHead(name: string, fileName?: string): Buffer {
  const file = fileName === undefined ? '' : `; filename="${fileName}"`
  const type = fileName === undefined ? '' : 'content-type: audio/wav\r\n'
  return Buffer.from(
    `--${BOUNDARY}\r\ncontent-disposition: form-data; name="${name}"${file}\r\n${type}\r\n`,
  )
}

export function form(parts: readonly Part[]): Buffer {
  return Buffer.concat([
    ...parts.flatMap(([name, value, fileName]) => [
      partHead(name, fileName),
      typeof value === 'string' ? Buffer.from(value) : value,
      Buffer.from('\r\n'),
    ]),
    FORM_END,
  ])
}

export const TRANSCRIPTIONS = '/audio/transcriptions'

export function askForm(
  baseUrl: string,
  secret: string | undefined,
  parts: readonly Part[],
): Promise<Asked> {
  return ask(baseUrl, TRANSCRIPTIONS, {
    secret,
    body: form(parts),
    headers: { 'content-type': FORM_TYPE },
  })
}

/** A request that is sent by hand: its answer may come before its end, or its sender may leave. */
export interface Sending {
  readonly requestId: string
  readonly answer: Promise<Asked>
  /** Waits until the socket took it. */
  write(part: Buffer): Promise<void>
  end(): void
  /** Hangs up. */
  leave(): void
}

export function beginForm(
  baseUrl: string,
  secret: string,
  headers: Record<string, string | number> = {},
): Sending {
  const requestId = randomUUID()
  const askedAtMs = Date.now()
  const request = httpRequest(`${baseUrl}${TRANSCRIPTIONS}`, {
    method: 'POST',
    agent: false,
    headers: {
      'x-svc-request-id': requestId,
      authorization: `Bearer ${secret}`,
      'content-type': FORM_TYPE,
      ...headers,
    },
  })
  const answer = new Promise<Asked>((resolve, reject) => {
    request.on('error', reject)
    request.on('response', (response) => {
      const parts: Buffer[] = []
      response.on('data', (part: Buffer) => parts.push(part))
      response.on('error', reject)
      response.on('end', () => {
        const text = Buffer.concat(parts).toString()
        const headers = new Headers()
        for (const [name, value] of Object.entries(response.headers))
          headers.set(name, String(value))
        const isJson = /^application\/json\b/.test(headers.get('content-type') ?? '')
        const json: unknown = isJson ? JSON.parse(text) : undefined
        const status = response.statusCode ?? 0
        resolve({ requestId, askedAtMs, status, headers, text, json })
      })
    })
  })
  // Who leaves does not wait for it.
  answer.catch(() => {})
  return {
    requestId,
    answer,
    write: (part) =>
      new Promise((resolve, reject) =>
        request.write(part, (error) => (error ? reject(error) : resolve())),
      ),
    end: () => request.end(),
    leave: () => request.destroy(),
  }
}

// ── configuration ───────────────────────────────────────────────────────────────────────────────

/** The environment of a server with this `catraca.config.json`. */
export function configured(config: object): { CATRACA_CONFIG: string } {
  const folder = mkdtempSync(join(tmpdir(), 'catraca-media-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'catraca.config.json')
  writeFileSync(path, JSON.stringify(config))
  return { CATRACA_CONFIG: path }
}

// ── costs ───────────────────────────────────────────────────────────────────────────────────────

/** Decimal digits as a fraction. */
export interface Rational {
  readonly n: bigint
  readonly d: bigint
}

export function rational(digits: string): Rational {
  const [whole = '', fraction = ''] = digits.split('.')
  return { n: BigInt(whole + fraction), d: 10n ** BigInt(fraction.length) }
}

export function times(...factors: readonly Rational[]): Rational {
  return factors.reduce((a, b) => ({ n: a.n * b.n, d: a.d * b.d }), { n: 1n, d: 1n })
}

export function plus(...terms: readonly Rational[]): Rational {
  return terms.reduce((a, b) => ({ n: a.n * b.d + b.n * a.d, d: a.d * b.d }), { n: 0n, d: 1n })
}

export const roundHalfUp = ({ n, d }: Rational): bigint => (2n * n + d) / (2n * d)
export const roundUp = ({ n, d }: Rational): bigint => (n + d - 1n) / d

/** So many units at a price in USD for each million of them. */
export const perMillion = (count: number, usd: string): Rational =>
  times({ n: BigInt(count), d: 1_000_000n }, rational(usd))

/** An hour's price is sold by the second, each at the next whole pico-USD. */
export function perHour(seconds: number, usd: string): Rational {
  const picoUsdPerSecond = roundUp(
    times(rational(usd), { n: 1n, d: 3_600n }, { n: 1_000_000_000_000n, d: 1n }),
  )
  return { n: BigInt(seconds) * picoUsdPerSecond, d: 1_000_000_000_000n }
}

/** The charge in nano-BRL for a cost in USD. */
export const nanoBrl = (usd: Rational, fxRate: string, markup: string): bigint =>
  roundHalfUp(times(usd, rational(fxRate), rational(markup), { n: 1_000_000_000n, d: 1n }))

// ── outcomes ─────────────────────────────────────────────────────────────────────────────────

/** The digits as they stand in the text: a number of JavaScript could have lost some. */
export function amountIn(text: string, field: string): bigint {
  const digits = new RegExp(`"${field}":([0-9.eE+-]+)`).exec(text)?.[1]
  const amount = digits === undefined ? undefined : parseBrl(digits)
  assert.notEqual(amount, undefined, `${field} is "${digits}"`)
  return amount as bigint
}

/** The client's value of `cost_billed_brl`. */
export function nanoOf(cost: unknown): bigint {
  assert.ok(typeof cost === 'number' && cost > 0, `cost_billed_brl is ${String(cost)}`)
  return parseBrl(cost.toFixed(9)) as bigint
}

export async function usageText(gateway: TestGateway, secret: string): Promise<string> {
  const { status, text } = await ask(gateway.node.baseUrl, '/usage', { secret })
  assert.equal(status, 200)
  return text
}

/**
 * Runs calls of a new customer, and asserts that the balance lost exactly the reported cost, in nano-BRL. `cost` is
 * undefined if the client does not report it.
 */
export async function withExactCharge(
  gateway: TestGateway,
  call: (secret: string) => Promise<{ cost: bigint | undefined; calls?: number }>,
): Promise<void> {
  const { secret } = await seedCustomer(gateway.database.db, { balanceBrl: '50' })
  const before = amountIn(await usageText(gateway, secret), 'balance_brl')
  const { cost, calls = 1 } = await call(secret)
  const after = await usageText(gateway, secret)
  const lost = before - amountIn(after, 'balance_brl')
  assert.ok(lost > 0n, 'the call was charged')
  assert.equal(amountIn(after, 'total_spent_brl'), lost)
  const listed = [...after.matchAll(/"cost_billed_brl":([0-9.eE+-]+)/g)].map(
    ([, digits]) => parseBrl(digits as string) as bigint,
  )
  assert.equal(listed.length, calls)
  assert.equal(
    listed.reduce((sum, amount) => sum + amount, 0n),
    lost,
  )
  if (cost !== undefined) assert.equal(cost, lost)
}

export interface Outcome {
  outcome: 'charged' | 'released'
  usage_kind: string
  reason: string | null
  prompt_tokens: number
  completion_tokens: number
  units: Readonly<Record<string, number>> | null
  held_nano_brl: bigint
  cost_billed_nano_brl: bigint
}

/** The outcome of a request's hold; empty if there was none. */
export function outcomesOf(gateway: TestGateway, requestId: string): Promise<Outcome[]> {
  return gateway.database.db
    .selectFrom('usage_events')
    .select([
      'outcome',
      'usage_kind',
      'reason',
      'prompt_tokens',
      'completion_tokens',
      'units',
      'held_nano_brl',
      'cost_billed_nano_brl',
    ])
    .where('request_id', '=', requestId)
    .execute()
}

/** The only one, once it is there. */
export async function theOutcome(gateway: TestGateway, requestId: string): Promise<Outcome> {
  for (const deadline = Date.now() + 30_000; ; await sleep(20)) {
    const outcomes = await outcomesOf(gateway, requestId)
    assert.ok(outcomes.length < 2, 'a hold is resolved once')
    if (outcomes[0]) return outcomes[0]
    assert.ok(Date.now() < deadline, 'nothing became of the call')
  }
}

/** Neither held nor charged, not even for a moment: that would have left an event. */
export async function assertUntouched(
  gateway: TestGateway,
  requestIds: readonly string[],
): Promise<void> {
  await untilNoHoldIsOpen(gateway.database)
  for (const requestId of requestIds)
    assert.deepEqual(await outcomesOf(gateway, requestId), [], requestId)
}

/** Where there is no /proc, files without a name are not to be seen. */
export const SEES_OPEN_FILES = existsSync('/proc/self/fd')

/** Files of uploads in the folder, and unlinked ones that the process still has open. */
export function uploadsLeft(node: TestNode): string[] {
  return [...filesIn(join(node.dataDir, 'uploads')), ...openUploads(node).map(({ path }) => path)]
}

/** Bytes of the uploads that the process has open. */
export function uploadedBytes(node: TestNode): number {
  return openUploads(node).reduce((sum, { bytes }) => sum + bytes, 0)
}

function openUploads({ process }: TestNode): { path: string; bytes: number }[] {
  const folder = `/proc/${process.pid}/fd`
  return filesIn(folder).flatMap((fd) => {
    try {
      const path = readlinkSync(join(folder, fd))
      return path.includes('/uploads/') ? [{ path, bytes: statSync(join(folder, fd)).size }] : []
    } catch {
      // It was closed meanwhile.
      return []
    }
  })
}

function filesIn(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder) : []
}

export async function untilNoUploadIsLeft(node: TestNode): Promise<void> {
  for (const deadline = Date.now() + 30_000; ; await sleep(20)) {
    const left = uploadsLeft(node)
    if (left.length === 0) return
    assert.ok(Date.now() < deadline, `left: ${left.join(', ')}`)
  }
}

// ── behaviour of upstreams ─────────────────────────────────────────────────────────────────────

export interface UpstreamFault {
  /** Of the sandbox upstream. */
  readonly model: string
  readonly status: number
  readonly type: string
  /** The reason of the release, as the operator sees it. */
  readonly reason: string
}

/** Each of them ends a call in an error, and its hold in one release. */
export const UPSTREAM_FAULTS: readonly UpstreamFault[] = [
  {
    model: 'sandbox-error-400',
    status: 400,
    type: 'invalid_request',
    reason: 'refused_request',
  },
  {
    model: 'sandbox-error-401',
    status: 502,
    type: 'upstream_error',
    reason: 'credentials_refused',
  },
  {
    model: 'sandbox-error-429',
    status: 429,
    type: 'rate_limit_exceeded',
    reason: 'rate_limited',
  },
  { model: 'sandbox-error-500', status: 502, type: 'upstream_error', reason: 'server_error' },
  { model: 'sandbox-error-503', status: 503, type: 'service_unavailable', reason: 'server_error' },
  { model: 'sandbox-html-error', status: 502, type: 'upstream_error', reason: 'server_error' },
  { model: 'sandbox-garbage', status: 502, type: 'upstream_error', reason: 'bad_answer' },
  { model: 'sandbox-error-in-stream', status: 502, type: 'upstream_error', reason: 'server_error' },
  { model: 'sandbox-cut-stream', status: 502, type: 'upstream_error', reason: 'connection_lost' },
  { model: 'sandbox-stall', status: 502, type: 'upstream_error', reason: 'idle_timeout' },
  { model: 'sandbox-hang', status: 502, type: 'upstream_error', reason: 'first_byte_timeout' },
]

/** An upstream of a configuration: a sandbox in the test's own process, that is not waited for long. */
export function impatientUpstream(baseUrl: string): object {
  return {
    id: 'impatient',
    kind: 'openai-compatible',
    base_url: baseUrl,
    cancel_stops_billing: true,
    retries: 0,
    breaker: { failures: 0 },
    // The slow model thinks for two seconds, to which a loaded machine adds some.
    first_byte_timeout_ms: 6_000,
    idle_timeout_ms: 2_000,
  }
}

/** Models named like the sandbox models that serve them. */
export function impatientModels(names: readonly string[], more: object): object[] {
  return names.map((name) => ({
    id: `impatient-${name}`,
    routes: [{ upstream: 'impatient', model: name }],
    ...more,
  }))
}

export const FAULTY_MODELS: readonly string[] = UPSTREAM_FAULTS.map(({ model }) => model)
