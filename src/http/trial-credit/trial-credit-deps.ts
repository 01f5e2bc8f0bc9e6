import type { Database } from '../../db/open.ts'
import type { TrialProgramme } from '../../payments/trial-credit/grant-trial-credit.ts'
import type { SignIn } from '../../sign-in/create-sign-in.ts'
import type { WebhookSettings } from '../../webhooks/webhook-settings.ts'

export interface TrialCreditDeps {
  readonly db: Database
  readonly signIn: Pick<SignIn, 'devices'>
  readonly trial: TrialProgramme
  readonly webhooks: Pick<WebhookSettings, 'sealingKey' | 'previousSealingKey'>
}
