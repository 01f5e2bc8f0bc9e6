import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { buttonClass } from '../../components/button-class.ts'
import { Button } from '../../components/Button.tsx'
import { Dialog } from '../../components/Dialog.tsx'
import { counted } from '../../format/number.ts'
import { isInPlayground, type CatalogModel } from './catalog-query.ts'
import { Comparison } from './Comparison.tsx'
import { t } from '../../language/t.ts'

interface Props {
  readonly models: readonly CatalogModel[]
  readonly onClear: () => void
}

/** Stays visible while models are selected for comparison. */
export function CompareBar({ models, onClear }: Props) {
  const [isOpen, setOpen] = useState(false)
  if (models.length === 0) return null
  return (
    <>
      <div
        role="region"
        aria-label={t('Comparar modelos')}
        className="sticky bottom-20 z-30 flex flex-wrap items-center justify-between gap-3 rounded-card border border-line-strong bg-surface p-3 shadow-lg md:bottom-4"
      >
        <p role="status" className="px-2 text-sm">
          {counted(models.length, t('modelo escolhido'), t('modelos escolhidos'))}
          <span className="text-muted max-sm:hidden">
            {models.length === 1 ? t(': escolha mais um, dois ou três') : t(' para comparar')}
          </span>
        </p>
        <div className="flex gap-2">
          <Button variant="quiet" onClick={onClear}>
            {t('Limpar')}
          </Button>
          <Button disabled={models.length < 2} onClick={() => setOpen(true)}>
            {t('Comparar')}
          </Button>
        </div>
      </div>
      <Dialog
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        title={t('Comparar modelos')}
        className="sm:max-w-4xl!"
      >
        <Comparison models={models} />
        {models.every(isInPlayground) && (
          <Link
            to="/playground"
            search={{ comparar: models.map(({ id }) => id).join(' ') }}
            className={buttonClass('primary', 'mt-4')}
          >
            {t('Perguntar a todos no playground')}
          </Link>
        )}
      </Dialog>
    </>
  )
}
