import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Card } from '../../components/Card.tsx'
import { ErrorState } from '../../components/ErrorState.tsx'
import { Field } from '../../components/Field.tsx'
import { LoadMore } from '../../components/LoadMore.tsx'
import { Select } from '../../components/Select.tsx'
import { SkeletonRows } from '../../components/SkeletonRows.tsx'
import { DiffView } from './DiffView.tsx'
import { PromptText } from './PromptText.tsx'
import { versionsQuery, type Prompt, type Version } from './prompt-queries.ts'
import { RestoreVersion } from './RestoreVersion.tsx'
import { VersionEntry } from './VersionEntry.tsx'
import { t } from '../../language/t.ts'
import { Trans } from '../../language/Trans.tsx'

interface Props {
  readonly prompt: Prompt
  readonly isUnsaved: boolean
  readonly onRestored: () => void
}

interface Chosen {
  readonly from: number
  readonly to: number
}

export function Versions({ prompt, isUnsaved, onRestored }: Props) {
  const found = useInfiniteQuery(versionsQuery(prompt.id))
  const [chosen, setChosen] = useState<Chosen>()
  const [restoring, setRestoring] = useState<Version>()
  if (found.isPending)
    return (
      <Card>
        <SkeletonRows rows={5} label={t('Carregando as versões')} />
      </Card>
    )
  if (!found.data) return <ErrorState error={found.error} onRetry={() => void found.refetch()} />
  const versions = found.data.pages.flatMap((page) => page.versions)
  const newest = versions[0]?.version ?? 1
  const compared = chosen ?? { from: Math.max(1, newest - 1), to: newest }
  return (
    <div className="grid items-start gap-5 lg:grid-cols-[minmax(0,1fr)_20rem]">
      {newest === 1 ? (
        <FirstVersion body={versions[0]?.body ?? ''} />
      ) : (
        <Comparison versions={versions} compared={compared} onChoose={setChosen} />
      )}
      <Card title={t('Versões')}>
        <ol className="grid" reversed>
          {versions.map((version) => (
            <VersionEntry
              key={version.version}
              version={version}
              isCurrent={version.version === prompt.version}
              isShown={version.version === compared.to && newest > 1}
              // The previous version may not be loaded yet.
              {...(versions.some((each) => each.version === version.version - 1)
                ? {
                    onCompare: () => setChosen({ from: version.version - 1, to: version.version }),
                  }
                : {})}
              {...(version.body === prompt.body ? {} : { onRestore: () => setRestoring(version) })}
            />
          ))}
        </ol>
        <LoadMore query={found} />
      </Card>
      <RestoreVersion
        prompt={prompt}
        version={restoring}
        isUnsaved={isUnsaved}
        onClose={() => setRestoring(undefined)}
        onRestored={() => {
          setRestoring(undefined)
          setChosen(undefined)
          onRestored()
        }}
      />
    </div>
  )
}

function FirstVersion({ body }: { readonly body: string }) {
  return (
    <Card
      title={t('Versão 1')}
      description={t('Quando o texto mudar, aqui aparece o que mudou de uma versão para a outra.')}
    >
      <div className="rounded-lg bg-sunken p-3">
        <PromptText body={body} />
      </div>
    </Card>
  )
}

interface ComparisonProps {
  readonly versions: readonly Version[]
  readonly compared: Chosen
  readonly onChoose: (chosen: Chosen) => void
}

function Comparison({ versions, compared, onChoose }: ComparisonProps) {
  const textOf = (wanted: number): string =>
    versions.find(({ version }) => version === wanted)?.body ?? ''
  const options = versions.map(({ version }) => (
    <option key={version} value={version}>
      <Trans id="Versão {version}" values={{ version }} />
    </option>
  ))
  return (
    <Card title={t('O que mudou')}>
      <div className="mb-4 grid grid-cols-2 gap-3 sm:max-w-sm">
        <Field label={t('De')}>
          {(control) => (
            <Select
              {...control}
              value={compared.from}
              onChange={(event) => onChoose({ ...compared, from: Number(event.target.value) })}
            >
              {options}
            </Select>
          )}
        </Field>
        <Field label={t('Para')}>
          {(control) => (
            <Select
              {...control}
              value={compared.to}
              onChange={(event) => onChoose({ ...compared, to: Number(event.target.value) })}
            >
              {options}
            </Select>
          )}
        </Field>
      </div>
      <DiffView
        key={`${compared.from} ${compared.to}`}
        before={textOf(compared.from)}
        after={textOf(compared.to)}
      />
    </Card>
  )
}
