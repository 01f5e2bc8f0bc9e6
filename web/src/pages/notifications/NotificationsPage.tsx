import { infiniteQueryOptions, useInfiniteQuery } from '@tanstack/react-query'
import { Mail } from 'lucide-react'
import { api, type Answer } from '../../api/client.ts'
import { Badge } from '../../components/Badge.tsx'
import { Card } from '../../components/Card.tsx'
import { DateTime } from '../../components/DateTime.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { ErrorState } from '../../components/ErrorState.tsx'
import { LoadMore } from '../../components/LoadMore.tsx'
import { PageTitle } from '../../components/PageTitle.tsx'
import { SkeletonRows } from '../../components/SkeletonRows.tsx'
import { counted } from '../../format/number.ts'
import { cursorPages } from '../../lib/cursor-pages.ts'
import { notificationWords } from './notification-words.ts'
import { t } from '../../language/t.ts'

type Notification = Answer<'get', '/me/notifications'>['notifications'][number]

const PAGE = 50

const notificationsQuery = infiniteQueryOptions({
  queryKey: ['notifications'],
  queryFn: ({ pageParam, signal }) =>
    api.get('/me/notifications', {
      query: { limit: PAGE, ...(pageParam === undefined ? {} : { cursor: pageParam }) },
      signal,
    }),
  ...cursorPages,
})

export function NotificationsPage() {
  const found = useInfiniteQuery(notificationsQuery)
  const [first] = found.data?.pages ?? []
  const notifications = found.data?.pages.flatMap((page) => page.notifications) ?? []
  return (
    <>
      <PageTitle
        title={t('Notificações')}
        description={
          first && first.total > 0
            ? t('{total} que a Catraca enviou a você.', {
                total: counted(first.total, t('e-mail'), t('e-mails')),
              })
            : t('Os e-mails que a Catraca envia a você.')
        }
      />
      {found.isPending && (
        <Card>
          <SkeletonRows rows={6} label={t('Carregando as notificações')} />
        </Card>
      )}
      {found.isError && !found.data && (
        <ErrorState error={found.error} onRetry={() => void found.refetch()} />
      )}
      {found.data && (
        <div className="grid gap-4">
          <Card>
            {notifications.length === 0 ? (
              <EmptyState icon={<Mail className="size-6" />} title={t('Nenhum e-mail ainda')}>
                {t(
                  'Recargas, chaves novas, saldo baixo e alertas: quando algo acontece, o aviso fica guardado aqui.',
                )}
              </EmptyState>
            ) : (
              <ul>
                {notifications.map((notification) => (
                  <NotificationEntry key={notification.id} notification={notification} />
                ))}
              </ul>
            )}
          </Card>
          <LoadMore query={found} />
        </div>
      )}
    </>
  )
}

function NotificationEntry({ notification }: { readonly notification: Notification }) {
  const { template, sent_at, status } = notification
  return (
    <li className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1 border-b border-line py-3 text-sm last:border-b-0">
      <span className="flex flex-wrap items-center gap-2 font-medium">
        {notificationWords(template)}
        {status === 'failed' && <Badge tone="danger">{t('não chegou')}</Badge>}
      </span>
      <span className="text-muted">
        <DateTime instant={sent_at} />
      </span>
      {status === 'failed' && (
        <p className="w-full text-muted">
          {t('O e-mail não pôde ser entregue. Confira o endereço da sua conta.')}
        </p>
      )}
    </li>
  )
}
