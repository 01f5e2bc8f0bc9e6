import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { KeyRound, Plus } from 'lucide-react'
import { useDeferredValue, useState } from 'react'
import { Button } from '../../components/Button.tsx'
import { Card } from '../../components/Card.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { ErrorState } from '../../components/ErrorState.tsx'
import { Input } from '../../components/Input.tsx'
import { LoadMore } from '../../components/LoadMore.tsx'
import { PageTitle } from '../../components/PageTitle.tsx'
import { SecretGuard } from '../../components/SecretGuard.tsx'
import { Select } from '../../components/Select.tsx'
import { SkeletonRows } from '../../components/SkeletonRows.tsx'
import { useFilters } from '../../lib/use-filters.ts'
import { KeyDialog } from './KeyDialog.tsx'
import { KeyEntry } from './KeyEntry.tsx'
import { KeySecret } from './KeySecret.tsx'
import { keyListQuery, type ApiKey, type KeyStatus, type NewApiKey } from './key-queries.ts'
import { KEY_STATUS } from './key-words.ts'
import { RevokeKeys, type ToRevoke } from './RevokeKeys.tsx'
import { t } from '../../language/t.ts'

/** The API's limit for one request. */
const CHOSEN_MAX = 100

export function KeysPage() {
  // `criar` opens the dialog, for links.
  const [{ situacao, busca, criar }, setFilters] = useFilters('situacao', 'busca', 'criar')
  // The API refuses what is no status: it must not show every key.
  const status = situacao === '' ? undefined : (situacao as KeyStatus)
  const search = useDeferredValue(busca.trim())
  const list = useInfiniteQuery({
    ...keyListQuery(status, search),
    placeholderData: keepPreviousData,
  })
  const isFiltered = status !== undefined || search !== ''
  const keys = list.data?.pages.flatMap((page) => page.api_keys)
  // The newest first. Each secret is shown until the user has said that it is kept.
  const [made, setMade] = useState<readonly NewApiKey[]>([])
  const [editing, setEditing] = useState<ApiKey | 'new'>()
  const close = (): void => {
    setEditing(undefined)
    if (criar !== '') setFilters({ criar: '' })
  }
  const [revoking, setRevoking] = useState<ToRevoke>()
  const [chosenIds, setChosenIds] = useState<ReadonlySet<string>>(new Set())
  const live = keys?.filter(isLive) ?? []
  const chosen = live.filter(({ id }) => chosenIds.has(id))

  const choose = (id: string, isChosen: boolean): void => {
    const next = new Set(chosenIds)
    if (isChosen && next.size < CHOSEN_MAX) next.add(id)
    else next.delete(id)
    setChosenIds(next)
  }

  return (
    <>
      <PageTitle
        title={t('Chaves')}
        description={t(
          'Use uma chave para cada programa: assim você vê o que cada um gasta e pode revogar só uma.',
        )}
        actions={
          <Button
            onClick={() => setEditing('new')}
            icon={<Plus aria-hidden="true" className="size-4" />}
          >
            {t('Criar chave')}
          </Button>
        }
      />
      <div className="grid gap-6">
        {made.map((key) => (
          <KeySecret
            key={key.id}
            made={key}
            onDone={() => setMade((before) => before.filter(({ id }) => id !== key.id))}
          />
        ))}
        <Card>
          <div
            className="mb-6 flex flex-wrap items-center justify-between gap-3"
            hidden={keys?.length === 0 && !isFiltered}
          >
            <Input
              type="search"
              aria-label={t('Procurar chave')}
              placeholder={t('Nome ou fim da chave')}
              maxLength={100}
              value={busca}
              onChange={(event) => setFilters({ busca: event.target.value })}
              className="min-w-0 flex-1 basis-48"
            />
            <div className="min-w-0 grow sm:w-44 sm:grow-0">
              <Select
                aria-label={t('Situação')}
                value={status ?? ''}
                onChange={(event) => setFilters({ situacao: event.target.value })}
              >
                <option value="">{t('Todas')}</option>
                {Object.entries(KEY_STATUS()).map(([value, { text }]) => (
                  <option key={value} value={value}>
                    {text}
                  </option>
                ))}
                {status !== undefined && !Object.hasOwn(KEY_STATUS(), status) && (
                  <option value={status}>{status}</option>
                )}
              </Select>
            </div>
            {live.length > 1 && (
              <Button
                variant="secondary"
                onClick={() => setRevoking(chosen.length > 0 ? chosen : 'all')}
              >
                {chosen.length > 0
                  ? t('Revogar escolhidas ({chosen})', { chosen: chosen.length })
                  : t('Revogar todas')}
              </Button>
            )}
          </div>
          {list.isPending && <SkeletonRows />}
          {list.isError && !keys && (
            <ErrorState error={list.error} onRetry={() => void list.refetch()} />
          )}
          {keys?.length === 0 && (
            <EmptyState
              icon={<KeyRound className="size-6" />}
              title={isFiltered ? t('Nenhuma chave encontrada') : t('Nenhuma chave ainda')}
              action={
                !isFiltered && (
                  <Button onClick={() => setEditing('new')}>{t('Criar a primeira chave')}</Button>
                )
              }
            >
              {isFiltered
                ? t('Mude a situação ou o que procura para ver mais.')
                : t('Com uma chave, seu programa acessa todos os modelos do catálogo.')}
            </EmptyState>
          )}
          {keys && keys.length > 0 && (
            <ul className="divide-y divide-line">
              {keys.map((key) => (
                <KeyEntry
                  key={key.id}
                  apiKey={key}
                  isChosen={chosenIds.has(key.id)}
                  onChoose={isLive(key) ? (isChosen) => choose(key.id, isChosen) : undefined}
                  onChange={() => setEditing(key)}
                  onRevoke={() => setRevoking([key])}
                />
              ))}
            </ul>
          )}
          <LoadMore query={list} />
        </Card>
      </div>
      <SecretGuard count={made.length} />
      <KeyDialog
        editing={editing ?? (criar === '' ? undefined : 'new')}
        onClose={close}
        onMade={(key) => {
          setMade((before) => [key, ...before])
          close()
        }}
      />
      <RevokeKeys
        keys={revoking}
        onClose={() => setRevoking(undefined)}
        onRevoked={() => {
          setRevoking(undefined)
          setChosenIds(new Set())
        }}
      />
    </>
  )
}

function isLive({ status }: ApiKey): boolean {
  return status !== 'revoked'
}
