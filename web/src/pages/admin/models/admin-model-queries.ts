import { queryOptions } from '@tanstack/react-query'
import { api, type Answer, type Body } from '../../../api/client.ts'
import { SERVICE } from '../use-act.ts'

type AdminModels = Answer<'get', '/admin/models'>
export type AdminModel = AdminModels['models'][number]
export type MarkupChange = AdminModel['scheduled'][number]
export type MarkupInput = Body<'post', '/admin/models/{id}/markup'>

export const adminModelsQuery = queryOptions({
  queryKey: [...SERVICE, 'models'],
  queryFn: ({ signal }) => api.get('/admin/models', { signal }),
})

/** The queries that a change of a model invalidates, including the customers' ones. */
export const MODELS_CHANGE = [SERVICE, ['catalog'], ['models']] as const
