/** Stored responses, as client libraries of the Responses format read and delete them; errors are in their format. */
import { idList } from '../rest/id-list.ts'
import Type from 'typebox'
import { listInputItems } from '../../gateway/calls/chat/formats/responses/input-items.ts'
import { resolveReferences } from '../../gateway/calls/chat/formats/responses/resolve-references.ts'
import { callIdOfResponse } from '../../gateway/calls/chat/formats/responses/response-head.ts'
import type {
  ReadingRoom,
  StoredConversations,
  StoredTurn,
} from '../../gateway/calls/chat/formats/responses/stored-conversation.ts'
import { refusals } from '../../gateway/calls/refusal.ts'
import type { JsonObject } from '../../gateway/providers/contract.ts'
import { deleteResponse } from '../../customers/stored-responses/response-store.ts'
import { storedResponse } from '../model-calls/model-call-schemas.ts'
import { actorOf } from '../rest/authenticate.ts'
import { readerOf } from '../rest/reader-of.ts'
import { RestRefusal, toRestRefusal } from '../rest/rest-refusal.ts'
import { restRoute } from '../rest/rest-route.ts'
import { answer, wholeNumber } from '../rest/values.ts'
import type { HttpParts } from '../rest/parts.ts'

type Deps = Pick<HttpParts, 'db'> & {
  readonly conversations: StoredConversations
}

const LIMIT_DEFAULT = 20
const LIMIT_MAX = 100

const FOR_ALL = {
  tag: 'Modelos',
  access: 'calls',
  takesTeamKeys: true,
  params: { id: Type.String({ maxLength: 100 }) },
  refusals: {
    404: ['response_not_found'],
    413: ['invalid_request'],
  },
} as const

export const storedResponseRoutes = [
  restRoute({
    ...FOR_ALL,
    method: 'GET',
    path: '/responses/:id',
    summary: 'Uma resposta guardada',
    // A client that reads events would wait for them.
    query: {
      stream: Type.Optional(
        Type.Enum(['false'], { description: 'Uma resposta guardada não vem em stream.' }),
      ),
    },
    answer: storedResponse,
    async handle({ caller, params: { id }, reply }, deps: Deps) {
      const room = deps.conversations.openRoom(readerOf(caller), 0)
      try {
        const read = await deps.conversations.readResponse(room, id)
        if (!read) throw toRestRefusal(refusals.responseNotFound(id))
        if (read.kind === 'refused') throw toRestRefusal(read)
        // As it was written: reading it would round its amount.
        const text = `${read.texts.head.slice(0, -1)},"output":${read.texts.output}}`
        return reply
          .header('cache-control', 'no-store')
          .type('application/json; charset=utf-8')
          .send(text)
      } finally {
        room[Symbol.dispose]()
      }
    },
  }),

  restRoute({
    ...FOR_ALL,
    method: 'DELETE',
    path: '/responses/:id',
    summary: 'Apaga uma resposta guardada, que assim não pode mais ser continuada',
    answer: answer({
      id: Type.String(),
      object: Type.Literal('response'),
      deleted: Type.Literal(true),
    }),
    async handle({ caller, params: { id } }, deps: Deps) {
      const callId = callIdOfResponse(id)
      const isDeleted =
        callId !== undefined &&
        (await deleteResponse(deps.db, actorOf(caller), { reader: readerOf(caller), id: callId }))
      if (!isDeleted) throw toRestRefusal(refusals.responseNotFound(id))
      return { id, object: 'response' as const, deleted: true as const }
    },
  }),

  restRoute({
    ...FOR_ALL,
    method: 'GET',
    path: '/responses/:id/input_items',
    summary:
      'Os itens a partir dos quais uma resposta guardada foi gerada, com a conversa antes dela',
    query: {
      limit: wholeNumber(1, LIMIT_MAX, LIMIT_DEFAULT),
      order: Type.Optional(Type.Enum(['asc', 'desc'], { default: 'desc' })),
      after: Type.Optional(
        Type.String({ maxLength: 200, description: 'O último item da página anterior.' }),
      ),
    },
    answer: idList(
      Type.Object({ id: Type.String(), type: Type.String() }, { additionalProperties: true }),
    ),
    async handle({ caller, params: { id }, query }, deps: Deps) {
      const { limit = LIMIT_DEFAULT, order = 'desc', after } = query
      const room = deps.conversations.openRoom(readerOf(caller), 0)
      try {
        const items = listInputItems(await readTurns(deps.conversations, room, id))
        if (order === 'desc') items.reverse()
        const start = after === undefined ? 0 : items.findIndex((item) => item.id === after) + 1
        if (after !== undefined && start === 0)
          throw new RestRefusal(400, 'invalid_request', 'after: não é um item desta resposta')
        const data = items.slice(start, start + limit) as { id: string; type: string }[]
        return {
          object: 'list' as const,
          data,
          first_id: data[0]?.id ?? null,
          last_id: data.at(-1)?.id ?? null,
          has_more: start + limit < items.length,
        }
      } finally {
        room[Symbol.dispose]()
      }
    },
  }),
]

/** The turns of a conversation; if its beginning was deleted, the rest. */
async function readTurns(
  conversations: StoredConversations,
  room: ReadingRoom,
  id: string,
): Promise<StoredTurn[]> {
  const read = await conversations.readConversation(room, id)
  if (!read) throw toRestRefusal(refusals.responseNotFound(id))
  if (read.kind === 'refused') throw toRestRefusal(read)
  const inputs = read.turns.flatMap(({ input }) => input)
  const resolved = await resolveReferences(conversations, room, inputs)
  if ('kind' in resolved) throw toRestRefusal(resolved)
  let at = 0
  return read.turns.map((turn) => {
    const input = resolved.slice(at, at + turn.input.length) as JsonObject[]
    at += turn.input.length
    return { ...turn, input }
  })
}
