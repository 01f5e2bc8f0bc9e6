import { queryOptions } from '@tanstack/react-query'
import { api, type Answer } from '../../api/client.ts'

export type Profile = NonNullable<Answer<'get', '/me/dashboard-stats'>['profile']>
export type Preferences = Answer<'get', '/me/preferences'>

/** `null`: the profile was never filled in. */
export const profileQuery = queryOptions({
  queryKey: ['profile'],
  // `/me/profile` would be a 404, which a browser reports as an error.
  queryFn: async ({ signal }): Promise<Profile | null> =>
    (await api.get('/me/dashboard-stats', { signal })).profile,
})

export const preferencesQuery = queryOptions({
  queryKey: ['preferences'],
  queryFn: ({ signal }) => api.get('/me/preferences', { signal }),
})
