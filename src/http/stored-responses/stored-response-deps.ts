import type { Database } from '../../db/open.ts'
import type { StoredConversations } from '../../gateway/chat/formats/responses/stored-conversation.ts'
import type { ResponseStore } from '../../stored-responses/response-store.ts'

export interface StoredResponseDeps {
  readonly db: Database
  readonly responses: ResponseStore
  readonly conversations: StoredConversations
}
