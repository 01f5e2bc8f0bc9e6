import { paymentMethodRoutes } from './payment-method-routes.ts'

export const paymentMethods = [...paymentMethodRoutes]
