/** Every resource of the API, in the order of the documentation. */
import { adjustments } from '../http/adjustments/resource.ts'
import { alerts } from '../http/alerts/resource.ts'
import { apiKeys } from '../http/api-keys/resource.ts'
import { auditLog } from '../http/audit-log/resource.ts'
import { customers } from '../http/customers/resource.ts'
import { docs } from '../site/docs/resource.ts'
import { fxRates } from '../http/fx-rates/resource.ts'
import { health } from '../http/health/resource.ts'
import { images } from '../http/images/resource.ts'
import { incidents } from '../http/incidents/resource.ts'
import { legal } from '../site/legal/resource.ts'
import { live } from '../http/live/resource.ts'
import { mails } from '../http/mails/resource.ts'
import { margins } from '../http/margins/resource.ts'
import { metrics } from '../http/metrics/resource.ts'
import { modelCalls } from '../http/model-calls/resource.ts'
import { models } from '../http/models/resource.ts'
import { notifications } from '../http/notifications/resource.ts'
import { paymentMethods } from '../http/payment-methods/resource.ts'
import { personalData } from '../http/personal-data/resource.ts'
import { processorEvents } from '../http/processor-events/resource.ts'
import { profile } from '../http/profile/resource.ts'
import { prompts } from '../http/prompts/resource.ts'
import { publicBills } from '../site/public-bills/resource.ts'
import { reconciliation } from '../http/reconciliation/resource.ts'
import { referrals } from '../http/referrals/resource.ts'
import { refunds } from '../http/refunds/resource.ts'
import { sessions } from '../http/sessions/resource.ts'
import { shield } from '../http/shield/resource.ts'
import { signIn } from '../http/sign-in/resource.ts'
import { site } from '../site/pages/resource.ts'
import { spendingGuard } from '../http/spending-guard/resource.ts'
import { storedResponses } from '../http/stored-responses/resource.ts'
import { teams } from '../http/teams/resource.ts'
import { topUps } from '../http/top-ups/resource.ts'
import { trialCredit } from '../http/trial-credit/resource.ts'
import { usage } from '../http/usage/resource.ts'
import { usageDestinations } from '../http/usage-destinations/resource.ts'
import { webhooks } from '../http/webhooks/resource.ts'
import type { MailTerms } from '../http/mails/mail-deps.ts'
import type { ModelTerms } from '../http/models/model-deps.ts'
import type { TopUpTerms } from '../http/top-ups/top-up-deps.ts'
import { isOperatorAccess } from '../http/rest/access.ts'
import type { DepsOf } from '../http/rest/route.ts'

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
