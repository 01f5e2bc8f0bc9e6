/** The videos that customers asked for. The file stays with the upstream, from where it is read for its customer alone. */
import { sql, type RawBuilder } from 'kysely'
import type { ResponseReader } from '../../../customers/stored-responses/response-reader.ts'
import { audited, type Actor } from '../../../platform/audit-log/audited.ts'
import type { Database } from '../../../platform/db/open.ts'
import { jsonBrl, type NanoBrl } from '../../../platform/lib/money.ts'

/** Upstreams keep a file for a day or two. */
const KEPT_HOURS = 24

export interface Video {
  readonly id: string
  readonly modelId: string
  readonly seconds: number
  readonly size: string | null
  readonly status: 'queued' | 'in_progress' | 'completed' | 'failed'
  readonly progress: number
  readonly errorCode: keyof typeof ERRORS | null
  readonly createdAt: Date
  readonly completedAt: Date | null
  /** Null until it is done. */
  readonly billedNanoBrl: NanoBrl | null
}

export interface FoundVideo extends Video {
  readonly upstreamId: string
  readonly upstreamJob: string
}

export interface VideoToStore {
  /** Of the hold. */
  readonly id: string
  readonly customerId: string
  readonly keyId: string
  readonly modelId: string
  readonly upstreamId: string
  readonly upstreamJob: string
  readonly priceId: number
  readonly unit: string
  readonly seconds: number
  readonly size: string
}

/** Returns the time of the hold; undefined if nothing was stored. */
export type StoreVideo = (video: VideoToStore) => Promise<Date | undefined>

/**
 * Stores a video, which from then on keeps its hold. Not if the hold is gone, or if its node was fenced, because another
 * one may be resolving its holds: with the lock on the node, a fence comes before, or sees the video.
 */
export async function storeVideo(db: Database, video: VideoToStore): Promise<Date | undefined> {
  const { id, customerId, keyId, modelId, upstreamId, upstreamJob, priceId } = video
  const { rows } = await sql<{ created_at: Date }>`
    with hold as (
      select h.created_at from holds h join nodes n on n.id = h.node_id
      where h.id = ${id} and h.customer_id = ${customerId} and n.fenced_at is null and n.stopped_at is null
      for key share of h for share of n)
    insert into videos (id, customer_id, api_key_id, model_id, upstream_id, upstream_job, price_id, unit, seconds, size,
      created_at, due_at)
    select ${id}, ${customerId}, ${keyId}, ${modelId}, ${upstreamId}, ${upstreamJob}, ${priceId}::int4, ${video.unit},
      ${video.seconds}::int4, ${video.size}, hold.created_at, now() + interval '1 second'
    from hold returning created_at`.execute(db)
  return rows[0]?.created_at
}

const FIELDS = sql`v.id, v.model_id as "modelId", v.seconds, v.size, v.status, v.progress,
  v.error_code as "errorCode", v.created_at as "createdAt", v.completed_at as "completedAt",
  v.upstream_id as "upstreamId", v.upstream_job as "upstreamJob",
  (select e.cost_billed_nano_brl from usage_events e where e.id = v.id and e.created_at = v.created_at) as "billedNanoBrl"`

/** What a team's key made is seen by that key alone. A video is gone as soon as its time is over. */
function readable({ customerId, keyId, seesAccount }: ResponseReader): RawBuilder<unknown> {
  return sql`v.customer_id = ${customerId} and not coalesce(${IS_OVER}, false)
    and (v.api_key_id = ${keyId}::uuid
      or (${seesAccount} and (select team_id is null from api_keys k where k.id = v.api_key_id)))`
}

const IS_OVER = sql`v.completed_at < now() - make_interval(hours => ${KEPT_HOURS})`

export async function findVideo(
  db: Database,
  reader: ResponseReader,
  publicId: string,
): Promise<FoundVideo | undefined> {
  const id = idOf(publicId)
  if (id === undefined) return undefined
  const { rows } = await sql<FoundVideo>`
    select ${FIELDS} from videos v where v.id = ${id} and ${readable(reader)}`.execute(db)
  return rows[0]
}

/** Returns a page; undefined if `after` names no video of this reader. */
export async function listVideos(
  db: Database,
  reader: ResponseReader,
  page: { limit: number; order: 'asc' | 'desc'; after: string | undefined },
): Promise<Video[] | undefined> {
  const after = page.after === undefined ? undefined : await findVideo(db, reader, page.after)
  if (page.after !== undefined && !after) return undefined
  const isUp = page.order === 'asc'
  const direction = isUp ? sql`asc` : sql`desc`
  // The ids are in the order of time.
  const beyond = after ? sql`v.id ${isUp ? sql`>` : sql`<`} ${after.id}` : sql`true`
  const { rows } = await sql<Video>`
    select ${FIELDS} from videos v where ${readable(reader)} and ${beyond}
    order by v.id ${direction} limit ${page.limit}::int4`.execute(db)
  return rows
}

/** Returns false if the reader sees no such video that has ended. */
export function deleteVideo(
  db: Database,
  actor: Actor,
  { reader, id }: { readonly reader: ResponseReader; readonly id: string },
): Promise<boolean> {
  return audited(db, actor, async (trx, record) => {
    const { numAffectedRows } = await sql`
      delete from videos v where v.id = ${id} and v.due_at is null and ${readable(reader)}`.execute(
      trx,
    )
    if (numAffectedRows !== 1n) return false
    await record({ action: 'video.deleted', customerId: reader.customerId, subjectId: id })
    return true
  })
}

export async function pruneVideos(db: Database): Promise<void> {
  await sql`delete from videos v where ${IS_OVER}`.execute(db)
}

const ERRORS = {
  moderation_blocked:
    'O modelo recusou o conteúdo deste vídeo pelas regras de uso dele. Nada foi cobrado.',
  video_failed: 'O vídeo não pôde ser feito. Nada foi cobrado. Tente de novo.',
  video_timeout: 'O vídeo não ficou pronto dentro do tempo limite. Nada foi cobrado.',
} as const

/** OpenAI's format. The prompt is not stored. */
export function videoBody(video: Video) {
  const { id, modelId, seconds, size, status, progress, errorCode } = video
  const { createdAt, completedAt, billedNanoBrl } = video
  return {
    id: `video_${id.replaceAll('-', '')}`,
    object: 'video' as const,
    model: modelId,
    status,
    progress,
    created_at: secondsOf(createdAt),
    completed_at: completedAt && secondsOf(completedAt),
    expires_at:
      completedAt && status === 'completed' ? secondsOf(completedAt) + KEPT_HOURS * 3_600 : null,
    seconds: String(seconds),
    size,
    prompt: null,
    remixed_from_video_id: null,
    error: errorCode && { code: errorCode, message: ERRORS[errorCode] },
    cost_billed_brl: billedNanoBrl === null ? null : jsonBrl(billedNanoBrl),
  }
}

function secondsOf(at: Date): number {
  return Math.floor(at.getTime() / 1_000)
}

function idOf(publicId: string): string | undefined {
  const digits = /^video_([0-9a-f]{32})$/.exec(publicId)?.[1]
  return digits?.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
