/** Every resource of the API, in the order of the documentation. */
import { adjustments } from './adjustments/resource.ts'
import { alerts } from './alerts/resource.ts'
import { apiKeys } from './api-keys/resource.ts'
import { auditLog } from './audit-log/resource.ts'
import { customers } from './customers/resource.ts'
import { docs } from './docs/resource.ts'
import { fxRates } from './fx-rates/resource.ts'
import { health } from './health/resource.ts'
import { images } from './images/resource.ts'
import { incidents } from './incidents/resource.ts'
import { legal } from './legal/resource.ts'
import { live } from './live/resource.ts'
import { mails } from './mails/resource.ts'
import { margins } from './margins/resource.ts'
import { metrics } from './metrics/resource.ts'
import { modelCalls } from './model-calls/resource.ts'
import { models } from './models/resource.ts'
import { notifications } from './notifications/resource.ts'
import { paymentMethods } from './payment-methods/resource.ts'
import { personalData } from './personal-data/resource.ts'
import { processorEvents } from './processor-events/resource.ts'
import { profile } from './profile/resource.ts'
import { prompts } from './prompts/resource.ts'
import { publicBills } from './public-bills/resource.ts'
import { reconciliation } from './reconciliation/resource.ts'
import { referrals } from './referrals/resource.ts'
import { refunds } from './refunds/resource.ts'
import { sessions } from './sessions/resource.ts'
import { shield } from './shield/resource.ts'
import { signIn } from './sign-in/resource.ts'
import { site } from './site/resource.ts'
import { spendingGuard } from './spending-guard/resource.ts'
import { storedResponses } from './stored-responses/resource.ts'
import { teams } from './teams/resource.ts'
import { topUps } from './top-ups/resource.ts'
import { trialCredit } from './trial-credit/resource.ts'
import { usage } from './usage/resource.ts'
import { usageDestinations } from './usage-destinations/resource.ts'
import { webhooks } from './webhooks/resource.ts'
import type { MailTerms } from './mails/mail-deps.ts'
import type { ModelTerms } from './models/model-deps.ts'
import type { TopUpTerms } from './top-ups/top-up-deps.ts'
import { isOperatorAccess } from './rest/access.ts'
import type { DepsOf } from './rest/route.ts'

/** The configuration that decides which routes exist, and that their descriptions state. */
export type RouteTerms = MailTerms & ModelTerms & TopUpTerms

export function listRoutes(terms: RouteTerms) {
  const routes = [
    ...modelCalls,
    ...storedResponses,
    ...images,
    ...models(terms),
    ...fxRates,
    ...health,
    ...incidents,
    ...usage,
    ...usageDestinations,
    ...sessions,
    ...publicBills,
    ...apiKeys,
    ...prompts,
    ...signIn,
    ...live,
    ...profile,
    ...shield,
    ...spendingGuard,
    ...notifications,
    ...referrals,
    ...trialCredit,
    ...personalData,
    ...teams,
    ...alerts,
    ...webhooks,
    ...paymentMethods,
    ...topUps(terms),
    ...refunds,
    ...processorEvents,
    ...auditLog,
    ...reconciliation,
    ...customers,
    ...adjustments,
    ...mails(terms),
    ...margins,
    ...metrics,
    ...site,
    ...legal,
    ...docs,
  ]
  // The operators' operations are the last chapter of the documentation.
  return [
    ...routes.filter(({ access }) => !isOperatorAccess(access)),
    ...routes.filter(({ access }) => isOperatorAccess(access)),
  ]
}

/** The dependencies of all resources together: each declares its own. */
export type ResourceDeps = DepsOf<ReturnType<typeof listRoutes>>
