import { operatorWebhookRoutes } from './operator-webhook-routes.ts'
import { webhookRoutes } from './webhook-routes.ts'
import { webhookAttemptRoutes } from './webhook-attempt-routes.ts'

export const webhooks = [...webhookRoutes, ...webhookAttemptRoutes, ...operatorWebhookRoutes]
