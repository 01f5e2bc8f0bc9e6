import { referralRoutes } from './referral-routes.ts'

export const referrals = [...referralRoutes]
