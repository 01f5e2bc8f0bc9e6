import { imageFileRoutes } from './image-file-routes.ts'

export const images = [...imageFileRoutes]
