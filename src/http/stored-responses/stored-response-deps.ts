import type { Database } from '../../db/open.ts'
import type { StoredConversations } from '../../gateway/chat/formats/responses/stored-conversation.ts'

export interface StoredResponseDeps {
  readonly db: Database
  readonly conversations: StoredConversations
}
