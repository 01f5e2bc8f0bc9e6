import type { Database } from '../../platform/db/open.ts'
import type { StoredConversations } from '../../gateway/calls/chat/formats/responses/stored-conversation.ts'

export interface StoredResponseDeps {
  readonly db: Database
  readonly conversations: StoredConversations
}
