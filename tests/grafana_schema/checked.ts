// What a dashboard is made of, in Grafana's own types: one JSON Schema is made of all of them.
import type { Dashboard } from '@grafana/schema/dist/types/raw/dashboard/x/types.gen';
import type { Options as BarGauge } from '@grafana/schema/dist/types/raw/composable/bargauge/panelcfg/x/types.gen';
import type { Options as PieChart } from '@grafana/schema/dist/types/raw/composable/piechart/panelcfg/x/types.gen';
import type { Options as Stat } from '@grafana/schema/dist/types/raw/composable/stat/panelcfg/x/types.gen';
import type { Options as Table } from '@grafana/schema/dist/types/raw/composable/table/panelcfg/x/types.gen';
import type { FieldConfig as Lines, Options as TimeSeries } from '@grafana/schema/dist/types/raw/composable/timeseries/panelcfg/x/types.gen';

export interface Checked {
  dashboard: Dashboard;
  bargauge: BarGauge;
  piechart: PieChart;
  stat: Stat;
  table: Table;
  timeseries: TimeSeries;
  lines: Lines;
}
