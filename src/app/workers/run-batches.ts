/**
 * Calls the lines of batches, each as a call of the key that made the batch, on the path of every other call: a few at
 * once on each node and for each customer, and none while the node is busy. `customers/batches/batch-lines.ts` says why a
 * line is charged once, whenever a node dies.
 */
import {
  claimLines,
  finishLine,
  keepResult,
  postponeLine,
  readInput,
  renewClaims,
  RESULT_BYTES_MAX,
  type ClaimedLine,
} from '../../customers/batches/batch-lines.ts'
import type { ActiveKey } from '../../customers/key-cache.ts'
import { createRunner, type Runner } from '../../deliveries/create-runner.ts'
import type { Client } from '../../gateway/calls/client.ts'
import { customerSubject } from '../../gateway/calls/limits.ts'
import { refusals, type Refusal } from '../../gateway/calls/refusal.ts'
import {
  erroredLine,
  LINE_CALLS,
  type LineInput,
  overLine,
  publicId,
  MESSAGES,
  resultsFull,
  succeededLine,
} from '../../http/batches/batch-lines.ts'
import type { ModelCalls } from '../../http/model-calls/model-call-route.ts'
import { PACED_FROM_BYTES } from '../../http/rest/paced-from-bytes.ts'
import { findOutcome } from '../../money/ledger/nodes.ts'
import { parseExactly } from '../../platform/lib/exact-json.ts'
import { seal, unseal } from '../../platform/lib/seal.ts'
import type { Parts } from '../open-parts.ts'

/** Of this process. */
const LINES_AT_ONCE = 32
const CUSTOMER_AT_ONCE = 8
/** A node whose timers are so late, or with so many calls, calls no lines. */
const LATE_MS_MAX = 50
const BUSY_CALLS = 150
/** Claims are renewed several times before they end. */
export const RENEW_EVERY_MS = 15_000
/** After a fault that may pass: of an upstream, of the database, of ours. */
const PAUSE_SECONDS = 10
/** A line that upstreams fail is called so often. */
const TRIES_MAX = 3

type Deps = Pick<
  Parts,
  'db' | 'keys' | 'webhooks' | 'bodies' | 'pace' | 'lateness' | 'calls' | 'config' | 'log'
> & { readonly modelCalls: ModelCalls }

export interface BatchRunner {
  /** Starts due lines. */
  startDue(): Promise<number>
  renew(): Promise<void>
  /** Starts no more lines. Those that run end, as the calls that they are. */
  stop(): void
}

export function createBatchRunner(deps: Deps): BatchRunner {
  const { db, lateness, calls, log } = deps
  const running = new Map<string, ClaimedLine>()
  let isStopped = false
  const runner: Runner = createRunner<ClaimedLine>({
    kind: 'batch',
    lanes: [{ slots: LINES_AT_ONCE, claim }],
    log,
    async work(line) {
      running.set(line.id, line)
      try {
        await workOn(deps, line)
      } finally {
        running.delete(line.id)
      }
    },
    giveBack: (line) => postponeLine(db, line, { seconds: PAUSE_SECONDS, all: false }),
  })

  async function claim(limit: number): Promise<readonly ClaimedLine[]> {
    if (isStopped || lateness.ms >= LATE_MS_MAX || calls.size >= BUSY_CALLS) return []
    const counts = new Map<string, number>()
    for (const { customerId } of running.values())
      counts.set(customerId, (counts.get(customerId) ?? 0) + 1)
    return claimLines(db, limit, CUSTOMER_AT_ONCE, counts)
  }

  return {
    startDue: () => runner.startDue(),
    renew: () => renewClaims(db, [...running.values()]),
    stop() {
      isStopped = true
    },
  }
}

async function workOn(deps: Deps, line: ClaimedLine): Promise<void> {
  if (line.holdId !== null && (await endPaid(deps, line, line.holdId))) return
  const { bodies, pace, db } = deps
  const held = bodies.take(customerSubject(line.customerId), line.bytes)
  if (typeof held === 'string') return postponeLine(db, line, { seconds: PAUSE_SECONDS, all: true })
  try {
    if (line.bytes > PACED_FROM_BYTES) await pace.wait(line.customerId, line.bytes)
    await callLine(deps, line)
  } finally {
    held[Symbol.dispose]()
  }
}

/** Ends a line whose stored result was charged, or waits for what becomes of its hold. False: nothing was charged. */
async function endPaid({ db }: Deps, line: ClaimedLine, holdId: string): Promise<boolean> {
  const outcome = await findOutcome(db, holdId)
  if (outcome === 'charged') await finishLine(db, line, 'succeeded')
  else if (outcome === 'open') await postponeLine(db, line, { seconds: PAUSE_SECONDS, all: false })
  else return false
  return true
}

async function callLine(deps: Deps, line: ClaimedLine): Promise<void> {
  const { db, webhooks } = deps
  const { sealingKey } = webhooks
  const { custom_id: customId, body } = await openInput(deps, line)
  const named = { id: line.id, endpoint: line.endpoint, customId }
  const finish = (outcome: 'errored' | 'canceled' | 'expired', result: Buffer): Promise<void> => {
    const sealed = seal(sealingKey, line.id, result)
    return finishLine(db, line, outcome, { sealed, bytes: result.length })
  }
  const fail = (refused: Refusal) => finish('errored', erroredLine(named, refused))
  if (line.over === 'full') return fail(resultsFull(RESULT_BYTES_MAX))
  if (line.over !== null) return finish(line.over, overLine(named, line.over))
  if ((body as { stream?: unknown }).stream === true) return fail(STREAM_REFUSED)

  let keptBy: string | undefined
  const refused = await collect(deps, line, Buffer.from(JSON.stringify(body)), (holdId, text) => {
    keptBy = holdId
    const result = succeededLine(named, text)
    const sealed = seal(sealingKey, line.id, result)
    return keepResult(db, line, { holdId, sealed, bytes: result.length })
  })
  if (refused && mayPass(refused, line)) {
    const { retryAfterSeconds: seconds = PAUSE_SECONDS, status } = refused
    return postponeLine(db, line, { seconds, all: status === 429 || status === 503 })
  }
  if (refused) return fail(refused)
  if (keptBy !== undefined) await endPaid(deps, line, keptBy)
}

/** A line whose input no key opens any more waits for the key, until its batch is over: then it ends without its name. */
async function openInput({ db, webhooks }: Deps, line: ClaimedLine): Promise<LineInput> {
  const { sealingKey, previousSealingKey } = webhooks
  const sealed = await readInput(db, line)
  try {
    const input = unseal(sealingKey, line.id, sealed, previousSealingKey)
    return parseExactly(input.toString()) as LineInput
  } catch (error) {
    if (line.over === null) throw error
    return { custom_id: '', body: {} }
  }
}

const STREAM_REFUSED = refusals.invalidRequest(
  'stream: uma linha de um lote não pode ser um stream.',
)

/** Whether the same call may succeed later: limits and outages end, and upstreams may fail once. */
function mayPass({ status }: Refusal, { tries }: ClaimedLine): boolean {
  return status === 429 || status === 503 || (status >= 500 && tries < TRIES_MAX)
}

/** Makes the call of a line. Returns its refusal; undefined if it was answered, or is another node's by now. */
async function collect(
  { keys, config, modelCalls }: Deps,
  line: ClaimedLine,
  body: Buffer,
  keep: NonNullable<Client['keep']>,
): Promise<Refusal | undefined> {
  const { id, batchId, customerId, keyId, endpoint } = line
  const findKey = async (): Promise<ActiveKey | undefined> => {
    const key = await keys.findOwn(customerId, keyId)
    // Its addresses were checked when the batch was made: no address sends its lines.
    return key && { ...key, ipMatcher: null }
  }
  if (!(await findKey())) return refusals.authenticationFailed()
  let refused: Refusal | undefined
  const client: Client = {
    refuse: (refusal) => void (refused = refusal),
    answer() {},
    keep,
    expectStream: refuseStream,
    beginStream: refuseStream,
    write: refuseStream,
    endStream: refuseStream,
    hasLeft: () => false,
    onLeave() {},
    // What a stopped key has begun ends: a line that was charged has its answer.
    cutOff() {},
    origin: () => config.publicUrl ?? '',
  }
  const prefix = endpoint === MESSAGES ? 'msgbatch_' : 'batch_'
  const call = LINE_CALLS[endpoint as keyof typeof LINE_CALLS]
  await modelCalls[call](
    {
      requestId: id,
      authorization: undefined,
      findKey,
      // What a batch costs is what its session costs.
      sessionId: publicId(prefix, batchId),
      // Requests that hold no money count for their address: each line has its own.
      ip: id,
      body,
      receivedAtMs: performance.now(),
    },
    client,
  )
  return refused
}

function refuseStream(): never {
  throw new Error('a line of a batch is not streamed')
}
