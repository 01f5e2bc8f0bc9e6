import { queryOptions } from '@tanstack/react-query'
import { ApiError } from '../../api/api-error.ts'
import { api, type Answer } from '../../api/client.ts'

export type Profile = Answer<'get', '/me/profile'>
export type Preferences = Answer<'get', '/me/preferences'>

/** `null`: the profile was never filled in. */
export const profileQuery = queryOptions({
  queryKey: ['profile'],
  queryFn: async ({ signal }): Promise<Profile | null> => {
    try {
      return await api.get('/me/profile', { signal })
    } catch (error) {
      if (error instanceof ApiError && error.code === 'profile_not_found') return null
      throw error
    }
  },
})

export const preferencesQuery = queryOptions({
  queryKey: ['preferences'],
  queryFn: ({ signal }) => api.get('/me/preferences', { signal }),
})
