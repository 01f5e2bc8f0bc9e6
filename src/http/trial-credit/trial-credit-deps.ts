import type { Database } from '../../platform/db/open.ts'
import type { TrialProgramme } from '../../money/payments/trial-credit/grant-trial-credit.ts'
import type { SignIn } from '../../identity/sign-in/create-sign-in.ts'
import type { WebhookSettings } from '../../deliveries/webhooks/webhook-settings.ts'

export interface TrialCreditDeps {
  readonly db: Database
  readonly signIn: Pick<SignIn, 'devices'>
  readonly trial: TrialProgramme
  readonly webhooks: Pick<WebhookSettings, 'sealingKey' | 'previousSealingKey'>
}
