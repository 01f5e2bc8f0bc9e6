/** The videos that customers asked for. The file stays with the upstream, from where it is read for its customer alone. */
import { idTailOf, uuidIn } from '../../../platform/lib/ids.ts'
import { sql, type RawBuilder } from 'kysely'
import {
  mayRead,
  ofPage,
  type Page,
  type Reader,
} from '../../../customers/stored-responses/reader.ts'
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

const FIELDS = sql`r.id, r.model_id as "modelId", r.seconds, r.size, r.status, r.progress,
  r.error_code as "errorCode", r.created_at as "createdAt", r.completed_at as "completedAt",
  r.upstream_id as "upstreamId", r.upstream_job as "upstreamJob",
  (select e.cost_billed_nano_brl from usage_events e where e.id = r.id and e.created_at = r.created_at) as "billedNanoBrl"`

/** A video is gone as soon as its time is over, before a job deletes it. */
function readable(reader: Reader): RawBuilder<unknown> {
  return sql`${mayRead(reader)} and not coalesce(${IS_OVER}, false)`
}

const IS_OVER = sql`r.completed_at < now() - make_interval(hours => ${KEPT_HOURS})`

export async function findVideo(
  db: Database,
  reader: Reader,
  publicId: string,
): Promise<FoundVideo | undefined> {
  const id = idOf(publicId)
  if (id === undefined) return undefined
  const { rows } = await sql<FoundVideo>`
    select ${FIELDS} from videos r where r.id = ${id} and ${readable(reader)}`.execute(db)
  return rows[0]
}

/** Returns a page, and one video more where there are others; undefined if `after` names no video of this reader. */
export async function listVideos(
  db: Database,
  reader: Reader,
  page: Page,
): Promise<Video[] | undefined> {
  const after = page.after === undefined ? undefined : await findVideo(db, reader, page.after)
  if (page.after !== undefined && !after) return undefined
  const { where, end } = ofPage({ ...page, after: after?.id })
  const { rows } = await sql<Video>`
    select ${FIELDS} from videos r where ${readable(reader)} and ${where} ${end}`.execute(db)
  return rows
}

/** Returns false if the reader sees no such video that has ended. */
export function deleteVideo(
  db: Database,
  actor: Actor,
  { reader, id }: { readonly reader: Reader; readonly id: string },
): Promise<boolean> {
  return audited(db, actor, async (trx, record) => {
    const { numAffectedRows } = await sql`
      delete from videos r where r.id = ${id} and r.due_at is null and ${readable(reader)}`.execute(
      trx,
    )
    if (numAffectedRows !== 1n) return false
    await record({ action: 'video.deleted', customerId: reader.customerId, subjectId: id })
    return true
  })
}

export async function pruneVideos(db: Database): Promise<void> {
  await sql`delete from videos r where ${IS_OVER}`.execute(db)
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
    id: `video_${idTailOf(id)}`,
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
  return uuidIn(/^video_([0-9a-f]{32})$/, publicId)
}
