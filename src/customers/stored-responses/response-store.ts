/**
 * Responses that an account has stored, each sealed for its row: access to the database alone opens none. This room
 * knows the texts and their readers; the content belongs to the format (`gateway/chat/formats/responses`).
 */
import type { Database } from '../../platform/db/open.ts'
import { seal, SealError, unseal } from '../../platform/lib/seal.ts'
import {
  measureConversation,
  measureResponses,
  readResponses,
  type FoundResponse,
  type SealedParts,
} from './find-responses.ts'
import { CONVERSATION_MAX, STORED_PART_BYTES_MAX } from './response-limits.ts'
import type { ResponseReader } from './response-reader.ts'
import { storeResponse } from './store-response.ts'

/** The texts of a response; all of them are JSON. */
export interface ResponseTexts {
  /** The list of the input's items; undefined if it was not asked for. */
  readonly input?: string
  /** The list of the output's items. */
  readonly output: string
  /** The response, with an empty output. */
  readonly head: string
}

export interface ResponseToStore extends Required<ResponseTexts> {
  readonly id: string
  readonly customerId: string
  readonly keyId: string
  readonly previousId: string | null
  readonly isFailed: boolean
}

export interface ResponseStore {
  /** Returns false if nothing was stored: the account wants it no longer, or it is too large. */
  put(response: ResponseToStore): Promise<boolean>
  /** The newest first; see `measureConversation`. One more than a conversation may have shows that it is too long. */
  measureConversation(reader: ResponseReader, id: string): Promise<FoundResponse[]>
  measure(reader: ResponseReader, ids: readonly string[]): Promise<FoundResponse[]>
  /** By id, without responses that were deleted meanwhile or that no key opens. */
  read(
    reader: ResponseReader,
    ids: readonly string[],
    parts: 'all' | 'response',
  ): Promise<ReadonlyMap<string, ResponseTexts>>
}

export function createResponseStore({
  db,
  sealingKey,
  previousSealingKey,
}: {
  readonly db: Database
  readonly sealingKey: Buffer
  readonly previousSealingKey?: Buffer | undefined
}): ResponseStore {
  const open = (id: string, sealed: Buffer): string =>
    unseal(sealingKey, id, sealed, previousSealingKey).toString()

  return {
    async put({ input, output, head, ...response }) {
      const texts = [Buffer.from(input), Buffer.from(`${output}\n${head}`)] as const
      if (texts.some(({ length }) => length > STORED_PART_BYTES_MAX)) return false
      const [sealedInput, sealedResponse] = texts.map((text) => ({
        sealed: seal(sealingKey, response.id, text),
        bytes: text.length,
      })) as [SealedPart, SealedPart]
      return storeResponse(db, { ...response, input: sealedInput, response: sealedResponse })
    },
    measureConversation: (reader, id) => measureConversation(db, reader, id, CONVERSATION_MAX + 1),
    measure: (reader, ids) => measureResponses(db, reader, ids),
    async read(reader, ids, parts) {
      const texts = new Map<string, ResponseTexts>()
      for (const sealed of (await readResponses(db, reader, ids, parts)).values()) {
        const opened = openTexts(sealed)
        if (opened) texts.set(sealed.id, opened)
      }
      return texts
    },
  }

  /** Undefined if no known key opens it; `doctor` counts such responses. */
  function openTexts({ id, input, response }: SealedParts): ResponseTexts | undefined {
    try {
      // JSON has no line breaks of its own.
      const [output = '', head = ''] = open(id, response).split('\n')
      return { output, head, ...(input ? { input: open(id, input) } : {}) }
    } catch (error) {
      if (error instanceof SealError) return undefined
      throw error
    }
  }
}

interface SealedPart {
  readonly sealed: Buffer
  readonly bytes: number
}
