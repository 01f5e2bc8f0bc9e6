import { notificationRoutes } from './notification-routes.ts'

export const notifications = [...notificationRoutes]
