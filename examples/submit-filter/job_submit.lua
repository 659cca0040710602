-- Refuses a job that does not fit in what is left of its team's quotas, with the sentence that says why.
-- Copy both files beside slurm.conf, name the team of each account below, set JobSubmitPlugins=lua, then `scontrol reconfigure`.
-- slurmctld waits for the answer: keep APPORTION_WAIT below slurm.conf's MessageTimeout, and run `apportion quota TEAM --need 0` after each ingest, so that the count is kept.

local FITS = (os.getenv("APPORTION_FITS") or "/etc/slurm/fits.sh")
local OVER = 4

local function team_of(account)
   return account -- accounts are called as teams are; else: return ({["vis-core"] = "vision"})[account]
end

local function gpus_of(job)
   local most = 0
   for _, text in ipairs({job.tres_per_job or "", job.tres_per_node or "", job.tres_per_task or "", job.tres_per_socket or ""}) do
      local count = string.match(text, "gpu[^,]*[:=](%d+)") or (string.match(text, "gpu") and 1) or 0
      most = math.max(most, tonumber(count))
   end
   local nodes = (job.tres_per_node and job.min_nodes and job.min_nodes < 0xfffffffe) and job.min_nodes or 1
   return math.floor(most * math.max(nodes, 1))
end

local function quoted(text) return "'" .. string.gsub(text, "'", "") .. "'" end

function slurm_job_submit(job, part_list, submit_uid)
   local gpus = gpus_of(job)
   local team = team_of(job.account or job.default_account)
   if gpus == 0 or not team or job.time_limit == nil or job.time_limit >= 0xfffffffe then return slurm.SUCCESS end
   local answer = io.popen(string.format("%s %s %d %d 2>&1; echo $?", FITS, quoted(team), gpus, math.floor(job.time_limit)))
   local said = answer:read("*a")
   answer:close()
   local code = tonumber(string.match(said, "(%d+)%s*$"))
   if code == OVER then
      slurm.log_user("%s", (string.gsub(said, "%s*%d+%s*$", "")))
      return slurm.ERROR
   end
   return slurm.SUCCESS
end

function slurm_job_modify(job, job_record, part_list, modify_uid) return slurm.SUCCESS end
