/**
 * Asks the upstreams for the state of videos, and resolves the hold of each once, when it is done or will never be. A
 * process may die at any line, and two may ask at once: the ledger takes the first resolution of a hold, and says to all
 * others what it was.
 */
import { sql } from 'kysely'
import type { UsageCounts } from '../../../money/catalog/prices.ts'
import { findPrice } from '../../../money/catalog/register-prices.ts'
import type { Ledger } from '../../../money/ledger/open-ledger.ts'
import { release, type Resolution } from '../../../money/ledger/resolution.ts'
import { claimDue, recordClaimed, type ClaimableRows } from '../../../platform/db/due-rows.ts'
import type { Database } from '../../../platform/db/open.ts'
import { workOff } from '../../../platform/db/work-off.ts'
import type { Log } from '../../../platform/lib/log.ts'
import type { Provider, VideoState } from '../../providers/contract.ts'
import { plainTokens } from '../../providers/plain-tokens.ts'
import type { Used } from '../call.ts'
import { charge, NOT_TIMED } from '../charge.ts'
import type { Video } from './videos.ts'

const AT_ONCE = 20
const ASK_MS_MAX = 20_000
/** Longer than an answer takes: after it, another process asks. */
const LEASE_SECONDS = 45
const WAIT_SECONDS_MAX = 30
/** An upstream may not know a job in its first moments. */
const LOST_AFTER_SECONDS = 60
/** Upstreams need minutes. What is done later is billed to the operator alone. */
const HOURS_MAX = 6

export interface SettleVideosDeps {
  readonly db: Database
  readonly ledger: Pick<Ledger, 'resolve'>
  readonly providers: ReadonlyMap<string, Provider>
  readonly log: Log
}

interface DueVideo {
  readonly id: string
  readonly customer_id: string
  readonly upstream_id: string
  readonly upstream_job: string
  readonly price_id: number
  readonly unit: string
  readonly seconds: number
  readonly tries: number
  readonly age: number
  /** Of the hold; null if it is resolved. */
  readonly hold_price_id: number | null
  readonly fx_rate_e4: number | null
  readonly markup_e4: number | null
}

const VIDEOS = { table: 'videos', key: ['id'] }
const DUE: ClaimableRows = {
  ...VIDEOS,
  isDue: sql`q.due_at <= now()`,
  orderBy: sql`q.due_at`,
  lease: sql`tries = q.tries + 1, due_at = now() + make_interval(secs => ${LEASE_SECONDS})`,
  columns: sql`q.*, extract(epoch from now() - q.created_at)::float8 as age,
    h.price_id as hold_price_id, h.fx_rate_e4, h.markup_e4`,
  columnsFrom: sql`left join holds h on h.id = q.id`,
}

/** Returns the number of videos that were asked for. */
export function settleVideos(deps: SettleVideosDeps): Promise<number> {
  return workOff({
    claim: (limit) => claimDue<DueVideo>(deps.db, DUE, limit),
    work: (video) => settleVideo(deps, video),
    onFailure: ({ id }, error) => deps.log.error('video_not_settled', { videoId: id, error }),
    claimMax: AT_ONCE,
    atOnce: AT_ONCE,
    runMax: AT_ONCE * 10,
  })
}

type Outcome =
  | { readonly kind: 'running'; readonly progress: number | undefined }
  | { readonly kind: 'completed'; readonly used: Used; readonly seconds: number }
  | { readonly kind: 'failed'; readonly code: NonNullable<Video['errorCode']> }

async function settleVideo(deps: SettleVideosDeps, video: DueVideo): Promise<void> {
  const { db, log } = deps
  // A process died between the two: nothing is asked again, and the ledger says what the hold became.
  if (video.hold_price_id === null)
    return finish(deps, video, release(holdOf(video), 'video_failed'))
  const outcome = await ask(deps, video)
  if (outcome.kind === 'running') {
    const waitSeconds = Math.min(WAIT_SECONDS_MAX, Math.max(1, video.age / 10))
    await recordClaimed(db, VIDEOS, video, {
      set: sql`due_at = now() + make_interval(secs => ${waitSeconds}::float8),
        status = 'in_progress', progress = greatest(progress, ${outcome.progress ?? 0}::int2)`,
    })
    return
  }
  if (outcome.kind === 'failed') {
    const { code } = outcome
    return finish(deps, video, release(holdOf(video), code, video.upstream_id), code)
  }
  const { used, seconds } = outcome
  if (used.reason !== null)
    log.error(used.reason, { holdId: video.id, upstreamId: video.upstream_id })
  // Before the charge, so that a process that ends it finds the seconds that are charged.
  const isOurs = await recordClaimed(db, VIDEOS, video, { set: sql`seconds = ${seconds}::int4` })
  if (isOurs) await finish(deps, video, await chargeOf(db, video, used))
}

async function ask({ providers }: SettleVideosDeps, video: DueVideo): Promise<Outcome> {
  const jobs = providers.get(video.upstream_id)?.videos
  const state = await jobs?.state(video.upstream_job, AbortSignal.timeout(ASK_MS_MAX))
  if (state?.kind === 'video_state' && state.status !== 'running') return outcomeOf(video, state)
  const isLost = state?.kind === 'failure' && state.status === 404
  if (isLost && video.age > LOST_AFTER_SECONDS) return { kind: 'failed', code: 'video_failed' }
  if (video.age > HOURS_MAX * 3_600) return { kind: 'failed', code: 'video_timeout' }
  return {
    kind: 'running',
    progress: state?.kind === 'video_state' ? state.progress : undefined,
  }
}

function outcomeOf({ unit, seconds: asked }: DueVideo, state: VideoState): Outcome {
  if (state.status === 'failed')
    return { kind: 'failed', code: state.isRefused ? 'moderation_blocked' : 'video_failed' }
  // Without a report, it is as long as was asked for.
  const reported = Math.ceil(state.seconds ?? asked)
  const isPossible = reported >= 1 && reported <= asked
  const seconds = isPossible ? reported : asked
  const counts: UsageCounts = { ...plainTokens(0, 0), units: { [unit]: seconds } }
  const used: Used = isPossible
    ? { counts, kind: 'exact', reason: null }
    : { counts, kind: 'estimated', reason: 'impossible_usage_reported' }
  return { kind: 'completed', used, seconds }
}

/** At the price of the moment in which the upstream took the job, with the rate and markup of the hold. */
async function chargeOf(db: Database, video: DueVideo, used: Used): Promise<Resolution> {
  const price = await findPrice(db, video.price_id)
  if (!price) throw new Error(`price ${video.price_id} of video ${video.id} is not stored`)
  const conversion = {
    fxRateE4: BigInt(video.fx_rate_e4 as number),
    markupE4: BigInt(video.markup_e4 as number),
  }
  const hold = { ...holdOf(video), conversion, priceId: video.hold_price_id as number }
  return charge(hold, used, { ...NOT_TIMED, upstreamId: video.upstream_id, price })
}

function holdOf({ id, customer_id: customerId }: DueVideo) {
  return { id, customerId }
}

/** Resolves the hold, and ends the video as the ledger says. */
async function finish(
  { db, ledger, log }: SettleVideosDeps,
  video: DueVideo,
  resolution: Resolution,
  code: NonNullable<Video['errorCode']> = 'video_failed',
): Promise<void> {
  const resolved = await ledger.resolve(resolution)
  // The database is away: the next turn asks again.
  if (resolved.kind === 'unavailable') return
  if (resolved.kind === 'missing') log.error('charge_without_hold', { id: video.id })
  const { outcome } = resolved.kind === 'superseded' ? resolved : resolution
  const isCharged = outcome === 'charged' && resolved.kind !== 'missing'
  await recordClaimed(db, VIDEOS, video, {
    set: isCharged
      ? sql`status = 'completed', progress = 100, completed_at = now(), due_at = null`
      : sql`status = 'failed', error_code = ${code}, completed_at = now(), due_at = null`,
  })
}
