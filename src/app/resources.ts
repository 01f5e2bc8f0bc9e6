/** Every resource of the API, in the order of the documentation. */
import { operatorAdjustmentRoutes } from '../http/adjustments/operator-adjustment-routes.ts'
import { alertRoutes } from '../http/alerts/alert-routes.ts'
import { apiKeyRoutes } from '../http/api-keys/api-key-routes.ts'
import {
  operatorAuditLogExportRoutes,
  operatorAuditLogRoutes,
} from '../http/audit-log/operator-audit-log-routes.ts'
import { operatorCustomerRoutes } from '../http/customers/operator-customer-routes.ts'
import {
  operatorFactorRoutes,
  operatorSuspensionRoutes,
  operatorKeyRoutes,
} from '../http/customers/operator-act-routes.ts'
import { docRoutes } from '../site/docs/doc-routes.ts'
import { openApiRoutes } from '../site/docs/add-open-api.ts'
import { fxRateRoutes } from '../http/fx-rates/fx-rate-routes.ts'
import { operatorFxRoutes } from '../http/fx-rates/operator-fx-routes.ts'
import {
  healthRoutes,
  probeRoutes,
  upstreamHealthRoutes,
  metricsRoutes,
} from '../http/health/health-routes.ts'
import {
  operatorMailRoutes,
  operatorWebhookRoutes,
} from '../http/deliveries/operator-delivery-routes.ts'
import { operatorHealthRoutes } from '../http/health/operator-health-routes.ts'
import { imageFileRoutes } from '../http/images/image-file-routes.ts'
import { activeIncidentRoutes } from '../http/incidents/active-incident-routes.ts'
import { operatorIncidentRoutes } from '../http/incidents/operator-incident-routes.ts'
import { legalPageRoutes } from '../site/legal/legal-page-routes.ts'
import { liveRoutes } from '../http/live/live-routes.ts'
import { mailboxRoutes } from '../http/mails/mailbox-routes.ts'
import { unsubscribeRoutes } from '../http/mails/unsubscribe-routes.ts'
import { operatorMarginRoutes } from '../http/margins/operator-margin-routes.ts'
import { modelCallRoutes } from '../http/model-calls/model-call-routes.ts'
import { geminiModelRoutes } from '../http/models/gemini-model-routes.ts'
import { modelPriceRoutes } from '../http/models/model-price-routes.ts'
import { modelSpeedRoutes } from '../http/models/model-speed-routes.ts'
import { modelRoutes } from '../http/models/model-routes.ts'
import { operatorMarkupRoutes } from '../http/models/operator-markup-routes.ts'
import { operatorModelRoutes } from '../http/models/operator-model-routes.ts'
import { operatorPriceUpdateRoutes } from '../http/models/operator-price-update-routes.ts'
import { operatorPauseRoutes } from '../http/models/operator-pause-routes.ts'
import { operatorOverviewRoutes } from '../http/overview/operator-overview-routes.ts'
import { notificationRoutes } from '../http/notifications/notification-routes.ts'
import { paymentMethodRoutes } from '../http/payment-methods/payment-method-routes.ts'
import { personalDataRoutes } from '../http/personal-data/personal-data-routes.ts'
import { processorEventRoutes } from '../http/processor-events/processor-event-routes.ts'
import { preferenceRoutes } from '../http/profile/preference-routes.ts'
import { profileRoutes } from '../http/profile/profile-routes.ts'
import { promptHistoryRoutes } from '../http/prompts/prompt-history-routes.ts'
import { promptRoutes } from '../http/prompts/prompt-routes.ts'
import { promptRunRoutes } from '../http/prompts/prompt-run-routes.ts'
import { billPageRoutes } from '../site/public-bills/bill-page-routes.ts'
import { publicBillRoutes } from '../site/public-bills/public-bill-routes.ts'
import { shownBillRoutes } from '../site/public-bills/shown-bill-routes.ts'
import { operatorCostRoutes } from '../http/reconciliation/operator-cost-routes.ts'
import { operatorReconciliationRoutes } from '../http/reconciliation/operator-reconciliation-routes.ts'
import { referralRoutes } from '../http/referrals/referral-routes.ts'
import { operatorRefundRoutes } from '../http/refunds/operator-refund-routes.ts'
import { refundRoutes } from '../http/refunds/refund-routes.ts'
import { usageSessionRoutes } from '../http/sessions/usage-session-routes.ts'
import { shieldReportRoutes, shieldRoutes } from '../http/shield/shield-routes.ts'
import { authEventRoutes } from '../http/sign-in/auth-event-routes.ts'
import { authPageRoutes } from '../http/sign-in/auth-page-routes.ts'
import { authRoutes, codeRoutes } from '../http/sign-in/auth-routes.ts'
import { providerRoutes } from '../http/sign-in/provider-routes.ts'
import { loginSessionRoutes } from '../http/sign-in/login-session-routes.ts'
import { securityRoutes } from '../http/sign-in/security-routes.ts'
import { siteRoutes } from '../site/pages/site-routes.ts'
import { spendingGuardRoutes } from '../http/spending-guard/spending-guard-routes.ts'
import { batchRoutes } from '../http/batches/batch-routes.ts'
import { fileRoutes } from '../http/batches/file-routes.ts'
import { messageBatchRoutes } from '../http/batches/message-batch-routes.ts'
import { storedResponseRoutes } from '../http/stored-responses/stored-response-routes.ts'
import { receivedInvitationRoutes } from '../http/teams/received-invitation-routes.ts'
import { teamInvitationRoutes } from '../http/teams/team-invitation-routes.ts'
import { teamKeyRoutes } from '../http/teams/team-key-routes.ts'
import { teamMemberRoutes } from '../http/teams/team-member-routes.ts'
import { teamRoutes } from '../http/teams/team-routes.ts'
import { automaticTopUpRoutes } from '../http/top-ups/automatic-top-up-routes.ts'
import { topUpReceiptRoutes } from '../http/top-ups/top-up-receipt-routes.ts'
import { topUpRoutes } from '../http/top-ups/top-up-routes.ts'
import { trialCreditRoutes } from '../http/trial-credit/trial-credit-routes.ts'
import { dashboardStatsRoutes, runwayRoutes } from '../http/usage/dashboard-stats-routes.ts'
import { rateLimitUseRoutes } from '../http/usage/rate-limit-use-routes.ts'
import { recommendationRoutes } from '../http/usage/recommendation-routes.ts'
import { usageByDayRoutes } from '../http/usage/usage-by-day-routes.ts'
import { usageByKeyRoutes } from '../http/usage/usage-by-key-routes.ts'
import { usageCallsRoutes } from '../http/usage/usage-calls-routes.ts'
import { statementRoutes } from '../http/usage/statement-routes.ts'
import { usageExportRoutes } from '../http/usage/usage-export-routes.ts'
import { usageRefusalsRoutes } from '../http/usage/usage-refusals-routes.ts'
import { usageRoutes, usageSummaryRoutes } from '../http/usage/usage-routes.ts'
import { usageSpendRoutes } from '../http/usage/usage-spend-routes.ts'
import { usageDestinationRoutes } from '../http/usage-destinations/usage-destination-routes.ts'
import { videoRoutes } from '../http/videos/video-routes.ts'
import { webhookAttemptRoutes } from '../http/webhooks/webhook-attempt-routes.ts'
import { webhookRoutes } from '../http/webhooks/webhook-routes.ts'
import { operatorUpstreamRoutes } from '../http/upstreams/operator-upstream-routes.ts'
import { isOperatorAccess } from '../http/rest/access.ts'
import type { HttpConfig } from '../http/rest/parts.ts'
import type { DepsOf } from '../http/rest/route.ts'

/** The configuration that decides which routes exist, and that their descriptions state. */
export type RouteTerms = Pick<HttpConfig, 'mode' | 'markupNoticeDays' | 'topUpMinBrl'>

const routesOfModels = (terms: RouteTerms) => [
  ...modelCallRoutes,
  ...storedResponseRoutes,
  ...fileRoutes,
  ...batchRoutes,
  ...messageBatchRoutes,
  ...videoRoutes,
  ...imageFileRoutes,
  ...modelRoutes,
  ...geminiModelRoutes,
  ...modelPriceRoutes,
  ...modelSpeedRoutes,
  ...operatorModelRoutes(terms),
  ...operatorMarkupRoutes(terms),
  ...operatorPriceUpdateRoutes(terms),
  ...operatorPauseRoutes,
  ...operatorUpstreamRoutes,
  ...fxRateRoutes,
  ...operatorFxRoutes,
  ...healthRoutes,
  ...probeRoutes,
  ...upstreamHealthRoutes,
  ...operatorOverviewRoutes,
  ...operatorHealthRoutes,
  ...activeIncidentRoutes,
  ...operatorIncidentRoutes,
]

const routesOfUsage = [
  ...usageRoutes,
  ...usageCallsRoutes,
  ...usageRefusalsRoutes,
  ...usageSpendRoutes,
  ...usageExportRoutes,
  ...statementRoutes,
  ...usageSummaryRoutes,
  ...usageByKeyRoutes,
  ...usageByDayRoutes,
  ...rateLimitUseRoutes,
  ...dashboardStatsRoutes,
  ...runwayRoutes,
  ...recommendationRoutes,
  ...usageDestinationRoutes,
  ...usageSessionRoutes,
  ...publicBillRoutes,
  ...shownBillRoutes,
  ...billPageRoutes,
]

const routesOfAccounts = [
  ...apiKeyRoutes,
  ...promptRoutes,
  ...promptHistoryRoutes,
  ...promptRunRoutes,
  ...loginSessionRoutes,
  ...authPageRoutes,
  ...codeRoutes,
  ...providerRoutes,
  ...securityRoutes,
  ...authRoutes,
  ...authEventRoutes,
  ...liveRoutes,
  ...profileRoutes,
  ...preferenceRoutes,
  ...shieldRoutes,
  ...shieldReportRoutes,
  ...spendingGuardRoutes,
  ...notificationRoutes,
  ...referralRoutes,
  ...trialCreditRoutes,
  ...personalDataRoutes,
  ...teamRoutes,
  ...teamMemberRoutes,
  ...teamInvitationRoutes,
  ...receivedInvitationRoutes,
  ...teamKeyRoutes,
  ...alertRoutes,
  ...webhookRoutes,
  ...webhookAttemptRoutes,
  ...operatorWebhookRoutes,
]

const routesOfPayments = (terms: RouteTerms) => [
  ...paymentMethodRoutes,
  ...topUpRoutes(terms),
  ...automaticTopUpRoutes(terms),
  ...topUpReceiptRoutes,
  ...refundRoutes,
  ...operatorRefundRoutes,
  ...processorEventRoutes,
]

const routesOfOperations = (terms: RouteTerms) => [
  ...operatorAuditLogRoutes,
  ...operatorAuditLogExportRoutes,
  ...operatorReconciliationRoutes,
  ...operatorCostRoutes,
  ...operatorCustomerRoutes,
  ...operatorSuspensionRoutes,
  ...operatorFactorRoutes,
  ...operatorKeyRoutes,
  ...operatorAdjustmentRoutes,
  ...operatorMailRoutes,
  ...mailboxRoutes(terms),
  ...unsubscribeRoutes,
  ...operatorMarginRoutes,
  ...metricsRoutes,
]

const pages = [...siteRoutes, ...legalPageRoutes, ...openApiRoutes, ...docRoutes]

export function listRoutes(terms: RouteTerms) {
  const routes = [
    ...routesOfModels(terms),
    ...routesOfUsage,
    ...routesOfAccounts,
    ...routesOfPayments(terms),
    ...routesOfOperations(terms),
    ...pages,
  ]
  // The operators' operations are the last chapter of the documentation.
  return [
    ...routes.filter(({ access }) => !isOperatorAccess(access)),
    ...routes.filter(({ access }) => isOperatorAccess(access)),
  ]
}

/** The dependencies of all resources together: each declares its own. */
export type ResourceDeps = DepsOf<ReturnType<typeof listRoutes>>
