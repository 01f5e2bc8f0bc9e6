import { createRootRoute } from '@tanstack/react-router'
import { NotFoundPage } from './layout/NotFoundPage.tsx'

export const root = createRootRoute({ notFoundComponent: NotFoundPage })
