import { queryOptions, useQueryClient } from '@tanstack/react-query'
import { api, type Answer, type Body } from '../../api/client.ts'
import { explainError } from '../../api/explain-error.ts'
import { useToast } from '../../components/Toast.tsx'
import { useSubmit } from '../../lib/use-submit.ts'

type Alerts = Answer<'get', '/me/alerts'>
export type Alert = Alerts['alerts'][number]
export type AlertInput = Body<'post', '/me/alerts'>
export type AlertKind = Alert['kind']
export type Channel = Alert['channels'][number]

const TEAMS_MAX = 200

export const alertsQuery = queryOptions({
  queryKey: ['alerts'],
  queryFn: ({ signal }) => api.get('/me/alerts', { signal }),
})

/** Only a team's owner can set alerts on it. */
export const ownTeamsQuery = queryOptions({
  queryKey: ['teams', 'owned'],
  queryFn: async ({ signal }) => {
    const { teams } = await api.get('/me/teams', { query: { limit: TEAMS_MAX }, signal })
    return teams.filter(({ role }) => role === 'owner')
  },
})

/** Switches at once, and back if the API refuses. */
export function useAlertSwitch() {
  const queries = useQueryClient()
  const toast = useToast()
  const { queryKey } = alertsQuery
  return useSubmit({
    mutationFn: ({ id, isOn }: { id: string; isOn: boolean }) =>
      api.patch('/me/alerts/{id}', { is_enabled: isOn }, { path: { id } }),
    async onMutate({ id, isOn }) {
      await queries.cancelQueries({ queryKey })
      const before = queries.getQueryData(queryKey)
      queries.setQueryData(
        queryKey,
        (known) =>
          known && {
            alerts: known.alerts.map((alert) =>
              alert.id === id ? { ...alert, is_enabled: isOn } : alert,
            ),
          },
      )
      return { before }
    },
    onError(error, _asked, context) {
      queries.setQueryData(queryKey, context?.before)
      toast(explainError(error), 'danger')
    },
    onSettled: () => queries.invalidateQueries({ queryKey }),
  })
}
