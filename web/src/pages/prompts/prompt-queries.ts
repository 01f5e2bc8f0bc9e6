import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { api, type Answer, type Body } from '../../api/client.ts'
import { cursorPages } from '../../lib/cursor-pages.ts'

export type Prompt = Answer<'get', '/me/prompts/{id}'>
export type PromptInput = Body<'post', '/me/prompts'>
export type PromptChange = Body<'patch', '/me/prompts/{id}'>
export type Version = Answer<'get', '/me/prompts/{id}/versions'>['versions'][number]
export type Run = Answer<'get', '/me/prompts/{id}/runs'>['runs'][number]
export type RunInput = Body<'post', '/me/prompts/{id}/run'>
export type RunAnswer = Answer<'post', '/me/prompts/{id}/run'>

/** The prefix of every query key for prompts. */
export const PROMPTS = ['prompts'] as const

const PAGE = 50
/** The API's limit. */
export const RUNS_MAX = 100

export function promptsQuery({ q, tag }: { q: string; tag: string }) {
  return infiniteQueryOptions({
    queryKey: [...PROMPTS, 'list', q, tag],
    queryFn: ({ pageParam: cursor, signal }) =>
      api.get('/me/prompts', { query: { limit: PAGE, cursor, q, tag }, signal }),
    ...cursorPages,
  })
}

export function promptQuery(id: string) {
  return queryOptions({
    queryKey: [...PROMPTS, 'one', id],
    queryFn: ({ signal }) => api.get('/me/prompts/{id}', { path: { id }, signal }),
  })
}

export function versionsQuery(id: string) {
  return infiniteQueryOptions({
    queryKey: [...PROMPTS, 'versions', id],
    queryFn: ({ pageParam: cursor, signal }) =>
      api.get('/me/prompts/{id}/versions', {
        path: { id },
        query: { limit: PAGE, cursor },
        signal,
      }),
    ...cursorPages,
  })
}

export function runsQuery(id: string) {
  return queryOptions({
    queryKey: [...PROMPTS, 'runs', id],
    queryFn: async ({ signal }) => {
      const query = { limit: RUNS_MAX }
      return (await api.get('/me/prompts/{id}/runs', { path: { id }, query, signal })).runs
    },
  })
}
