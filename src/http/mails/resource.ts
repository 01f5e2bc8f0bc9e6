import type { MailTerms } from './mail-deps.ts'
import { mailboxRoutes } from './mailbox-routes.ts'
import { operatorMailRoutes } from './operator-mail-routes.ts'
import { unsubscribeRoutes } from './unsubscribe-routes.ts'

export const mails = (terms: MailTerms) => [
  ...operatorMailRoutes,
  ...mailboxRoutes(terms),
  ...unsubscribeRoutes,
]
