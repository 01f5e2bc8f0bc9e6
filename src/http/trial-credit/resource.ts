import { trialCreditRoutes } from './trial-credit-routes.ts'

export const trialCredit = [...trialCreditRoutes]
