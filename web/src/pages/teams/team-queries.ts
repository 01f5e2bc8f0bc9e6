import {
  infiniteQueryOptions,
  queryOptions,
  useQueryClient,
  type QueryKey,
} from '@tanstack/react-query'
import { api, type Answer } from '../../api/client.ts'
import { useToast } from '../../components/Toast.tsx'
import { cursorPages } from '../../lib/cursor-pages.ts'
import type { Once } from '../../lib/submit-gate.ts'
import { useSubmit } from '../../lib/use-submit.ts'

export type Team = Answer<'get', '/me/teams/{id}'>
export type Rank = Team['role']
export type Role = Exclude<Rank, 'owner'>
export type Person = Answer<'get', '/me/teams/{id}/members'>['owner']
export type Invitation = Answer<'get', '/me/teams/{id}/invitations'>['invitations'][number]
export type Received = Answer<'get', '/me/invitations'>['invitations'][number]
export type TeamKey = Answer<'get', '/me/teams/{id}/keys'>['api_keys'][number]

/** The prefix of every query key for teams. */
export const TEAMS = ['teams'] as const

const PAGE = 50

export const teamListQuery = infiniteQueryOptions({
  queryKey: [...TEAMS, 'list'],
  queryFn: ({ pageParam, signal }) =>
    api.get('/me/teams', {
      query: { limit: PAGE, ...(pageParam === undefined ? {} : { cursor: pageParam }) },
      signal,
    }),
  ...cursorPages,
})

export const teamQuery = (id: string) =>
  queryOptions({
    queryKey: [...TEAMS, id],
    queryFn: ({ signal }) => api.get('/me/teams/{id}', { path: { id }, signal }),
  })

export const peopleQuery = (id: string) =>
  queryOptions({
    queryKey: [...TEAMS, id, 'people'],
    queryFn: ({ signal }) => api.get('/me/teams/{id}/members', { path: { id }, signal }),
  })

export const sentInvitationsQuery = (id: string) =>
  queryOptions({
    queryKey: [...TEAMS, id, 'invitations'],
    queryFn: async ({ signal }) =>
      (await api.get('/me/teams/{id}/invitations', { path: { id }, signal })).invitations,
  })

export const teamKeysQuery = (id: string) =>
  infiniteQueryOptions({
    queryKey: [...TEAMS, id, 'keys'],
    queryFn: ({ pageParam, signal }) =>
      api.get('/me/teams/{id}/keys', {
        path: { id },
        query: { limit: PAGE, ...(pageParam === undefined ? {} : { cursor: pageParam }) },
        signal,
      }),
    ...cursorPages,
  })

/** Invitations that the customer received. */
export const receivedQuery = queryOptions({
  queryKey: ['invitations'],
  queryFn: async ({ signal }) => (await api.get('/me/invitations', { signal })).invitations,
})

interface TeamAct<Input, Result> {
  readonly act: (input: Input, once: Once) => Promise<Result>
  /** The text of the toast. */
  readonly done: (result: Result, input: Input) => string
  readonly alsoChanges?: QueryKey
  /** The refetch waits for it. */
  readonly onDone?: (result: Result) => void | Promise<void>
}

/** A change of a team; refetches every query about teams. */
export function useTeamAct<Input, Result>({
  act,
  done,
  alsoChanges,
  onDone,
}: TeamAct<Input, Result>) {
  const queries = useQueryClient()
  const toast = useToast()
  return useSubmit({
    mutationFn: act,
    async onSuccess(result, input) {
      toast(done(result, input))
      await onDone?.(result)
      if (alsoChanges) void queries.invalidateQueries({ queryKey: alsoChanges })
      await queries.invalidateQueries({ queryKey: TEAMS })
    },
  })
}
