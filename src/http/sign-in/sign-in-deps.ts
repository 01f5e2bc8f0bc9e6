import type { Database } from '../../platform/db/open.ts'
import type { Log } from '../../platform/lib/log.ts'
import type { SignIn } from '../../identity/sign-in/create-sign-in.ts'
import type { OperatorRole } from '../rest/access.ts'

export interface SignInDeps {
  readonly db: Database
  readonly mode: 'sandbox' | 'live'
  readonly log: Log
  /** The address at which customers reach this server; undefined: the host that each request names. */
  readonly publicUrl: string | undefined
  /** By e-mail, in lower case. */
  readonly operatorRoles: ReadonlyMap<string, OperatorRole>
  readonly signIn: SignIn
  /** Signs the messages of the identity provider; undefined: every message is refused. */
  readonly authWebhookSecret: Buffer | undefined
}
