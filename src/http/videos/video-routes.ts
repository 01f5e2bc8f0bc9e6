/** Videos that were asked for at `POST /v1/videos`, as client libraries read them; errors are in their format. */
import { idList, idPageOf } from '../rest/id-list.ts'
import { Readable } from 'node:stream'
import Type from 'typebox'
import {
  deleteVideo,
  findVideo,
  listVideos,
  videoBody,
  type FoundVideo,
} from '../../gateway/calls/videos/videos.ts'
import { refusals } from '../../gateway/calls/refusal.ts'
import type { Provider, VideoJobs } from '../../gateway/providers/contract.ts'
import type { Share } from '../../platform/admission/share.ts'
import { video } from '../model-calls/model-call-schemas.ts'
import { actorOf, type Caller } from '../rest/authenticate.ts'
import { readerOf } from '../rest/reader-of.ts'
import { whenClosed } from '../rest/leaving-client.ts'
import type { HttpParts } from '../rest/parts.ts'
import { RestRefusal, toRestRefusal } from '../rest/rest-refusal.ts'
import { restRoute } from '../rest/rest-route.ts'
import { answer, wholeNumber } from '../rest/values.ts'

type Deps = Pick<HttpParts, 'db' | 'log'> & {
  readonly providers: ReadonlyMap<string, Provider>
  /** Of calls: a download is one. */
  readonly slots: Share
}

const LIMIT_DEFAULT = 20
const LIMIT_MAX = 100
const REMOVE_MS_MAX = 10_000
/** A client that reads nothing for so long is disconnected. */
const STALL_MS_MAX = 120_000

const FOR_ALL = { tag: 'Modelos', access: 'calls', takesTeamKeys: true } as const
const FOR_ONE = {
  ...FOR_ALL,
  params: { id: Type.String({ maxLength: 100 }) },
} as const

export const videoRoutes = [
  restRoute({
    ...FOR_ALL,
    method: 'GET',
    path: '/videos',
    summary: 'Os vídeos pedidos que ainda podem ser baixados, o mais novo primeiro',
    query: {
      limit: wholeNumber(1, LIMIT_MAX, LIMIT_DEFAULT),
      order: Type.Optional(Type.Enum(['asc', 'desc'], { default: 'desc' })),
      after: Type.Optional(
        Type.String({ maxLength: 100, description: 'O último vídeo da página anterior.' }),
      ),
    },
    answer: idList(video),
    async handle({ caller, query }, deps: Deps) {
      const { limit = LIMIT_DEFAULT, order = 'desc', after } = query
      const found = await listVideos(deps.db, readerOf(caller), { limit, order, after })
      if (!found) throw new RestRefusal(400, 'invalid_request', 'after: não é um vídeo desta conta')
      return { object: 'list' as const, ...idPageOf(found, limit, videoBody) }
    },
  }),

  restRoute({
    ...FOR_ONE,
    method: 'GET',
    path: '/videos/:id',
    summary: 'Um vídeo pedido, com o estado dele',
    answer: video,
    refusals: { 404: ['video_not_found'] },
    async handle({ caller, params: { id } }, deps: Deps) {
      return videoBody(await videoOf(deps, caller, id))
    },
  }),

  restRoute({
    ...FOR_ONE,
    method: 'DELETE',
    path: '/videos/:id',
    summary: 'Apaga um vídeo que terminou',
    answer: answer({
      id: Type.String(),
      object: Type.Literal('video.deleted'),
      deleted: Type.Literal(true),
    }),
    refusals: { 400: ['video_not_ready'], 404: ['video_not_found'] },
    async handle({ caller, params: { id } }, deps: Deps) {
      const found = await videoOf(deps, caller, id)
      const reader = readerOf(caller)
      if (!(await deleteVideo(deps.db, actorOf(caller), { reader, id: found.id })))
        throw toRestRefusal(refusals.videoNotEnded())
      await removeFile(deps, found)
      return { id, object: 'video.deleted' as const, deleted: true as const }
    },
  }),

  restRoute({
    ...FOR_ONE,
    method: 'GET',
    path: '/videos/:id/content',
    summary: 'O arquivo de um vídeo que ficou pronto',
    query: { variant: Type.Optional(Type.Enum(['video'], { default: 'video' })) },
    answer: 'video/mp4',
    refusals: {
      400: ['video_not_ready'],
      404: ['video_not_found'],
      429: ['rate_limit_exceeded'],
      502: ['upstream_error'],
    },
    async handle({ caller, params: { id }, reply }, deps: Deps) {
      const found = await videoOf(deps, caller, id)
      if (found.status !== 'completed') throw toRestRefusal(refusals.videoNotReady())
      const held = deps.slots.take(caller.customerId)
      if (typeof held === 'string') throw toRestRefusal(refusals.tooManyCalls(deps.slots.ownMax))
      const ending = new AbortController()
      whenClosed(reply.raw, () => {
        held[Symbol.dispose]()
        ending.abort()
      })
      const content = await jobsOf(deps, found)?.open(found.upstreamJob, ending.signal)
      if (content?.kind !== 'video_content') {
        const { upstreamId } = found
        deps.log.warn('video_unreadable', { videoId: found.id, upstreamId, ...content })
        throw toRestRefusal(
          content?.status === 404 ? refusals.videoNotFound(id) : refusals.videoUnreadable(),
        )
      }
      if (content.bytes !== undefined) reply.header('content-length', content.bytes)
      reply.raw.setTimeout(STALL_MS_MAX)
      return reply
        .type('video/mp4')
        .header('cache-control', 'private, no-store')
        .header('x-content-type-options', 'nosniff')
        .header('content-disposition', `attachment; filename="${videoBody(found).id}.mp4"`)
        .send(Readable.from(content.read(), { objectMode: false }))
    },
  }),
]

async function videoOf({ db }: Deps, caller: Caller, id: string): Promise<FoundVideo> {
  const found = await findVideo(db, readerOf(caller), id)
  if (!found) throw toRestRefusal(refusals.videoNotFound(id))
  return found
}

function jobsOf({ providers }: Deps, { upstreamId }: FoundVideo): VideoJobs | undefined {
  return providers.get(upstreamId)?.videos
}

/** The upstream deletes its file by itself after a day or two, so a failure is no fault of the request. */
async function removeFile(deps: Deps, found: FoundVideo): Promise<void> {
  try {
    const signal = AbortSignal.timeout(REMOVE_MS_MAX)
    await jobsOf(deps, found)?.remove?.(found.upstreamJob, signal)
  } catch (error) {
    deps.log.warn('video_not_removed', { videoId: found.id, error })
  }
}
