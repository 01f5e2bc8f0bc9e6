/**
 * The upstream's own counts of calls. Tests that kill processes compare them with the counts of the gateway and of its
 * clients. At rest, `requests = completed + refused + broken + aborted`.
 */
export interface SandboxCounts {
  /** Calls with a valid key to any billed endpoint. */
  readonly requests: number
  /** Complete answers whose last byte was passed to the operating system, which does not prove that it arrived. */
  readonly completed: number
  /** Complete error answers, caused by the request or by the model's behaviour. */
  readonly refused: number
  /** Deliberately broken answers: cut, garbage, or an error in the stream. */
  readonly broken: number
  /** The client left before the end. */
  readonly aborted: number
  /** Sums of the usage in completed answers; an answer without usage adds nothing. */
  readonly promptTokens: number
  readonly completionTokens: number
  /** The searches of the web in completed answers. */
  readonly webSearches: number
  /** By the header `x-catraca-call-id`; without the header there is no record. */
  readonly calls: ReadonlyMap<string, CallRecord>
}

/** The counts of one id. More than one start with the same id means that the gateway sent a call twice. */
export interface CallRecord {
  readonly started: number
  readonly completed: number
  readonly promptTokens: number
  readonly completionTokens: number
}

export type CallOutcome = 'completed' | 'refused' | 'broken' | 'aborted'

export interface ReportedTokens {
  readonly promptTokens: number
  readonly completionTokens: number
  readonly webSearches?: number
}

export interface CountKeeper {
  readonly counts: SandboxCounts
  begin(callId: string | undefined): void
  end(callId: string | undefined, outcome: CallOutcome, reported?: ReportedTokens): void
}

type Writable<Facts> = { -readonly [Name in keyof Facts]: Facts[Name] }

/** Enough for any test, about 120 MB. Beyond it the oldest record is dropped. */
const CALLS_MAX = 200_000

export function createCountKeeper(callsMax = CALLS_MAX): CountKeeper {
  const calls = new Map<string, Writable<CallRecord>>()
  // A ring of the ids, the oldest at `next`. Reading the map's first key instead was measured at up to 170 µs, because
  // it skips the slots of deleted entries.
  const ring: string[] = []
  let next = 0
  const counts: Writable<SandboxCounts> = {
    requests: 0,
    completed: 0,
    refused: 0,
    broken: 0,
    aborted: 0,
    promptTokens: 0,
    completionTokens: 0,
    webSearches: 0,
    calls,
  }

  return {
    counts,
    begin(callId) {
      counts.requests += 1
      if (callId === undefined) return
      const known = calls.get(callId)
      if (known !== undefined) {
        known.started += 1
        return
      }
      calls.set(callId, { started: 1, completed: 0, promptTokens: 0, completionTokens: 0 })
      const oldest = ring[next]
      if (oldest !== undefined) calls.delete(oldest)
      ring[next] = callId
      next = (next + 1) % callsMax
    },
    end(callId, outcome, reported) {
      counts[outcome] += 1
      if (outcome !== 'completed') return
      counts.webSearches += reported?.webSearches ?? 0
      const call = callId === undefined ? undefined : calls.get(callId)
      if (call !== undefined) call.completed += 1
      for (const sum of call === undefined ? [counts] : [counts, call]) {
        sum.promptTokens += reported?.promptTokens ?? 0
        sum.completionTokens += reported?.completionTokens ?? 0
      }
    },
  }
}
